"""What must hold between the tables of a contract: a wait that can wait, can end, and can send its requests.

Only this file decides that. `contract_file.py` calls it on a contract whose tables are each right by themselves.
"""

from __future__ import annotations

from datetime import timedelta

from jobconsole.core.contracts import templates
from jobconsole.core.contracts.contract import Contract, RequestTemplate
from jobconsole.core.contracts.table import Table
from jobconsole.core.vocabulary import StateClass

_ENDS = frozenset(
    {
        *(StateClass.SUCCEEDED, StateClass.PARTIAL, StateClass.FAILED),
        *(StateClass.CANCELLED, StateClass.EXPIRED, StateClass.NO_OUTCOME),
    }
)


def check_between_tables(top: Table, contract: Contract) -> None:
    """Raise `ContractInvalid` for the first thing that cannot work."""
    _check_classes(top, contract)
    _check_deadline(top, contract)
    _check_headers(top, contract)
    _check_values_of_requests(top, contract)


def _check_classes(top: Table, contract: Contract) -> None:
    possible: set[str] = {*contract.states.exact.values(), *(word for _, word in contract.states.patterns)}
    possible |= {contract.states.unlisted, *contract.http.codes.values(), *(rule.verdict for rule in contract.rules)}
    if StateClass.WAITING not in possible:
        top.refuse("states.waiting", "nothing can give waiting", 'list the running states: waiting = ["running"]')
    if not possible & _ENDS:
        top.refuse("states", "nothing ends the wait", 'list how a job ends: succeeded = ["done"], failed = ["failed"]')
    if contract.status.state is None and not contract.rules and not contract.http.codes:
        top.refuse("status.state", "nothing names the state", 'say where it stands: state = "body.status"')
    if contract.status.state is None and (contract.states.exact or contract.states.patterns):
        top.refuse("status.state", "[states] lists values, and nothing names the state", 'write state = "body.status"')


def _check_deadline(top: Table, contract: Contract) -> None:
    least = contract.status.timeout + timedelta(seconds=1)
    if contract.budget.deadline <= least:
        mend = f"write more than {least.total_seconds():g}s: [status].timeout and one second"
        top.refuse("budget.deadline", "leaves no time for a request", mend)


def _check_headers(top: Table, contract: Contract) -> None:
    for name in contract.headers:
        if name.lower() == contract.auth.header.lower() and contract.auth.secret is not None:
            top.refuse(f"provider.headers.{name}", "is the header of the credential", "leave it to [auth]")


def _check_values_of_requests(top: Table, contract: Contract) -> None:
    """A job that was submitted must have a value for every placeholder of the requests that follow."""
    submit, result = contract.submit, contract.result
    has = {
        "job_id": submit is None or submit.job_id is not None,
        "status_url": submit is None or submit.status_url is not None,
        "result_url": result.url is not None or (submit is not None and submit.result_url is not None),
        "result_id": result.id is not None,
    }
    where = {
        "job_id": 'job_id = "..." in [submit]',
        "status_url": 'status_url = "..." in [submit]',
        "result_url": 'url = "..." in [result]',
        "result_id": 'id = "..." in [result]',
    }
    for section, request in _requests(contract):
        for name in templates.names(request.target) + templates.names_within(request.body):
            if not has.get(name, True):
                top.refuse(f"{section}.request", f"nothing gives {{{name}}} a value", f"write {where[name]}")


def _requests(contract: Contract) -> list[tuple[str, RequestTemplate]]:
    named = {
        "status": contract.status.request,
        "confirm": contract.confirm.request if contract.confirm else None,
        "result": contract.result.request,
        "cancel": contract.cancel.request if contract.cancel else None,
    }
    return [(section, request) for section, request in named.items() if request is not None]
