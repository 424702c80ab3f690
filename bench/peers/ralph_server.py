"""Serve Ralph, a store of learning records, on a file, for comparison.

    python ralph_server.py PORT FOLDER

Its file backend opens the file to create it, so that it refuses the second request. Here it appends.
Prints nothing. The account is `bench` with the password `bench`.
"""
import json
import os
import sys

PORT, FOLDER = int(sys.argv[1]), sys.argv[2]
# bcrypt at its least cost; Ralph checks a password once and caches the outcome.
ACCOUNT = {"username": "bench", "scopes": ["all"], "agent": {"mbox": "mailto:bench@example.org"}}

os.environ.update({
    "RALPH_APP_DIR": FOLDER,
    "RALPH_RUNSERVER_BACKEND": "fs",
    "RALPH_BACKENDS__LRS__FS__DEFAULT_DIRECTORY_PATH": FOLDER,
})

import bcrypt  # noqa: E402
import uvicorn  # noqa: E402

ACCOUNT["hash"] = bcrypt.hashpw(b"bench", bcrypt.gensalt(4)).decode()
with open(os.path.join(FOLDER, "auth.json"), "w", encoding="utf-8") as handle:
    json.dump([ACCOUNT], handle)
open(os.path.join(FOLDER, "fs_lrs.jsonl"), "a", encoding="utf-8").close()

from ralph.backends.data.base import BaseOperationType  # noqa: E402
from ralph.backends.lrs.fs import FSLRSBackend  # noqa: E402

FSLRSBackend.default_operation_type = BaseOperationType.APPEND
from ralph.api import app  # noqa: E402

uvicorn.run(app, host="127.0.0.1", port=PORT, log_level="warning")
