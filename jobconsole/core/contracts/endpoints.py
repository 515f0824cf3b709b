"""Where a contract's API is for one job: base URL, hosts and params filled in, and the account that shares a budget.

Only this file decides which params a job has and what a contract's hosts are with them. `requests.py` and `observation.py` use
it; commands take `account_key` from it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from jobconsole.core.contracts import hosts, templates
from jobconsole.core.contracts.contract import Contract
from jobconsole.errors import InvalidValue

_LONGEST_PARAM = 1_000


def params_of(contract: Contract, given: Mapping[str, str] | None = None) -> dict[str, str]:
    """The params of one job: `given` over the contract's defaults. One without either is left out.

    Raises `InvalidValue` for a name that the contract has not, or a value that its pattern refuses.
    """
    for name, value in (given or {}).items():
        param = contract.params.get(name)
        if param is None:
            known = ", ".join(sorted(contract.params)) or "none"
            raise InvalidValue(f"{contract.name} has no param {name[:60]!r}; known: {known}")
        if len(value) > _LONGEST_PARAM or not re.fullmatch(param.pattern, value):
            raise InvalidValue(f"param {name} does not match {param.pattern}; write a value that does")
    defaults = {name: param.default for name, param in contract.params.items() if param.default is not None}
    return {**defaults, **(given or {})}


def base_url(contract: Contract, params: Mapping[str, str]) -> str:
    """base_url with its params. Raises `InvalidValue` where one is missing, `HostRefused` where the result is no usable URL."""
    url = templates.fill_url(contract.base_url, params)
    hosts.split(url)
    return url


def own_host(contract: Contract, params: Mapping[str, str]) -> str:
    """`host` or `host:port` of base_url: the only place that sees the credential. Raises as `base_url`."""
    return hosts.host_port(base_url(contract, params))


def allowed_hosts(contract: Contract, params: Mapping[str, str]) -> tuple[str, ...]:
    """The hosts beside base_url's own; those whose params are missing are left out."""
    return tuple(
        templates.fill_text(pattern, params).lower()
        for pattern in contract.allowed_hosts
        if all(name in params for name in templates.names(pattern))
    )


def account_key(contract: Contract, params: Mapping[str, str] | None = None) -> str:
    """`account@host[:port]`: what shares one budget, one bucket and one hold (B9). Raises as `base_url`."""
    return f"{contract.account}@{own_host(contract, params_of(contract, params))}"
