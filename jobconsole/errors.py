"""The errors of jobconsole: one tree, each leaf with a stable `code`.

    JobconsoleError
    ├── CallerError            the caller's fault: mend the call
    │   ├── InvalidValue           bad_value: a duration, an option value, an id of the wrong shape
    │   ├── UnknownProvider        unknown_provider
    │   ├── UnknownOperation       unknown_operation
    │   ├── ContractInvalid        contract_invalid: names file, key and mend
    │   ├── SecretMissing          secret_missing: names the reference, never a value
    │   └── Refused                refused: stale revision, cap reached, read-only, not a person
    ├── ProviderFault          the provider's fault, or the way to it
    │   ├── TransportFault         transport_failure: no complete answer came back
    │   │   └── PeerClosedIdle         peer_closed_idle: a kept-alive connection was closed; repeatable once (B10)
    │   ├── CertificateFault       certificate: does not verify; stops at once (B10)
    │   └── HostRefused            host_refused: a URL outside allowed_hosts (C6)
    ├── StoreError             the store's fault
    │   ├── StoreBusy              store_busy: nothing happened
    │   ├── StoreFull              store_full: nothing happened
    │   ├── StoreUncertain         store_uncertain: may have happened; read again before deciding anything
    │   ├── StoreDamaged           store_damaged
    │   ├── StoreNewer             store_newer: written by a newer jobconsole
    │   └── StoreReadOnly          store_read_only
    └── AuditBroken            audit_broken: the chain does not verify

`Withheld` is no error of this tree: it is the gate's "no", and carries the reason why nothing was sent.
Exit codes are the command line's, tool errors the agent's; nothing here knows either.
"""

from __future__ import annotations

from typing import ClassVar


class JobconsoleError(Exception):
    """Anything that jobconsole raises on purpose. `str(error)` is one line that says what to do next."""

    code: ClassVar[str] = "error"


class CallerError(JobconsoleError):
    """The call cannot be served as it stands; mending the call helps."""

    code = "caller"


class InvalidValue(CallerError):
    """A value has the wrong shape or lies out of range."""

    code = "bad_value"


class UnknownProvider(CallerError):
    """No contract with this provider name was found."""

    code = "unknown_provider"


class UnknownOperation(CallerError):
    """No operation with this id is in the store."""

    code = "unknown_operation"


class ContractInvalid(CallerError):
    """A provider contract was refused when it was loaded (SPEC 2)."""

    code = "contract_invalid"

    def __init__(self, source: str, key: str, problem: str, mend: str) -> None:
        self.source, self.key, self.problem, self.mend = source, key, problem, mend
        super().__init__(f"{source}: {key}: {problem}; {mend}" if key else f"{source}: {problem}; {mend}")


class SecretMissing(CallerError):
    """A credential reference points to nothing. The message names the reference, never a value (C13)."""

    code = "secret_missing"


class Refused(CallerError):
    """The core refused an act; `why` is stable, the text says what happened instead (H4, H6, H11)."""

    code = "refused"

    def __init__(self, why: str, text: str) -> None:
        self.why = why
        super().__init__(text)


class ProviderFault(JobconsoleError):
    """The provider, or the way to it, did not do its part."""

    code = "provider"


class TransportFault(ProviderFault):
    """No complete answer came back (B10).

    `kind` is one of `refused`, `dns`, `tls`, `timeout`, `reset`, `truncated`, `too_large`, `bad_encoding`, `protocol`.
    `is_ambiguous` is true where the request may have reached the provider.
    """

    code = "transport_failure"

    def __init__(self, kind: str, text: str, *, is_ambiguous: bool, http_status: int | None = None) -> None:
        self.kind, self.is_ambiguous, self.http_status = kind, is_ambiguous, http_status
        super().__init__(text)


class PeerClosedIdle(TransportFault):
    """A reused connection was closed by the peer before it answered; one repeat on a fresh one is allowed (B10)."""

    code = "peer_closed_idle"


class CertificateFault(ProviderFault):
    """The server's certificate does not verify. There is no option that turns verification off (B10)."""

    code = "certificate"


class HostRefused(ProviderFault):
    """A URL names a host that the contract does not allow; nothing was sent there (C6)."""

    code = "host_refused"


class StoreError(JobconsoleError):
    """The store could not do what was asked."""

    code = "store"


class StoreBusy(StoreError):
    """Another process holds the store's lock; nothing happened."""

    code = "store_busy"


class StoreFull(StoreError):
    """The disk is full; nothing happened, nothing is lost."""

    code = "store_full"


class StoreUncertain(StoreError):
    """A write may or may not be durable: count it, send nothing, read again (STORE 3.4)."""

    code = "store_uncertain"


class StoreDamaged(StoreError):
    """Something acknowledged is missing or changed; the store is read-only and says where (S4)."""

    code = "store_damaged"


class StoreNewer(StoreError):
    """The store was written by a newer version of jobconsole."""

    code = "store_newer"


class StoreReadOnly(StoreError):
    """The store is open for reading only; the message says why (H11)."""

    code = "store_read_only"


class AuditBroken(JobconsoleError):
    """The audit chain does not verify; the message names the first broken place (L3)."""

    code = "audit_broken"


class Withheld(Exception):  # a decision, not an error
    """The gate's "no" directly before the first byte: nothing was sent, the reservation stays counted (STORE 4)."""

    def __init__(self, reason: str) -> None:
        self.reason = reason
        super().__init__(reason)
