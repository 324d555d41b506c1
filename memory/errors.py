"""The errors that memhooks raises on purpose; everything else is a bug.

    MemError                 exit 1, reason "failed"
    ├── UsageError           exit 2, "usage": the words of the command are wrong
    ├── Rejected             the text may not be remembered; reason says why (secret_detected, too_long, …)
    ├── NotFound             "not_found"
    ├── Ambiguous            "ambiguous": an id prefix or a patch fits more than one place
    ├── Superseded           "superseded": the memory is history and names its head
    ├── Conflict             "conflict": a file changed under us, or can't be edited without loss
    ├── Incomplete           "coverage_incomplete": vectors are missing or malformed
    ├── Unavailable          "unavailable": an optional part (extra, model, program) is not installed
    └── StoreError           "store": the database can't be used
        ├── Locked           "locked"
        ├── Corrupt          "corrupt"
        ├── Foreign          "foreign": a database, but not one of ours
        └── NewerSchema      "newer_schema"

A message says what, where and what to do; it never holds a secret's value.
"""

from __future__ import annotations


class MemError(Exception):
    """A failure that the user can understand and mend: `message`, a stable `reason`, an `exit_code`."""

    exit_code = 1
    reason = "failed"

    def __init__(self, message: str, *, reason: str = "") -> None:
        super().__init__(message)
        self.message = message
        if reason:
            self.reason = reason


class UsageError(MemError):
    exit_code = 2
    reason = "usage"


class Rejected(MemError):
    reason = "rejected"


class NotFound(MemError):
    reason = "not_found"


class Ambiguous(MemError):
    reason = "ambiguous"


class Superseded(MemError):
    reason = "superseded"


class Conflict(MemError):
    reason = "conflict"


class Incomplete(MemError):
    reason = "coverage_incomplete"


class Unavailable(MemError):
    reason = "unavailable"


class StoreError(MemError):
    reason = "store"


class Locked(StoreError):
    reason = "locked"


class Corrupt(StoreError):
    reason = "corrupt"


class Foreign(StoreError):
    reason = "foreign"


class NewerSchema(StoreError):
    reason = "newer_schema"
