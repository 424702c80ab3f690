"""What every client script shares: where the server is, checks that print a line each, and which
methods of a client they left out."""
import argparse
import functools
import inspect
import json
import logging
import sys
import traceback

OURS = __file__.rsplit("/", 1)[0]

logging.disable(logging.CRITICAL)  # The clients log each refusal; the checks say which were meant.


def arguments():
    """The server's address, a client's id and secret, and which half of the script to run."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--base", required=True, help="address of the server")
    parser.add_argument("--auth", required=True, help="address of its token endpoint")
    parser.add_argument("--id", required=True, help="client id")
    parser.add_argument("--secret", required=True, help="client secret")
    parser.add_argument("--phase", choices=["write", "read"], default="write")
    parser.add_argument("--state", help="file that carries what was written to the read phase")
    parser.add_argument("--signing-secret", help="secret with which the client signs requests")
    parser.add_argument("--other-node", help="address of another server with the same database")
    return parser.parse_args()


class Checks:
    """Counts checks, prints one line for each, tells the exit code."""

    def __init__(self):
        self.passed = 0
        self.failed = []

    def that(self, name, holds, detail=""):
        """Notes one check; `detail` is shown when it does not hold."""
        if holds:
            self.passed += 1
            print(f"ok      {name}")
        else:
            self.failed.append(name)
            print(f"FAILED  {name}: {detail}")
        sys.stdout.flush()
        return bool(holds)

    def equal(self, name, got, wanted):
        """Notes whether two values are the same."""
        return self.that(name, got == wanted, f"got {got!r}, wanted {wanted!r}")

    async def raises(self, name, kind, awaitable):
        """Notes whether the call is refused with that error."""
        try:
            got = await awaitable
        except kind:
            return self.that(name, True)
        except Exception as other:  # noqa: BLE001 (any other error is the finding)
            return self.that(name, False, f"raised {other!r}, wanted {kind.__name__}")
        return self.that(name, False, f"answered {got!r}, wanted {kind.__name__}")

    async def refuses(self, name, status, awaitable):
        """Notes whether the call is refused with that status; the error, or None where it was answered."""
        from timeback_common import APIError  # The older client does not bring it.
        try:
            got = await awaitable
        except APIError as error:
            self.equal(name, error.status_code, status)
            return error
        self.that(name, False, f"answered {got!r}")
        return None

    async def step(self, name, work, *args):
        """Runs one step; an error in it is a failed check and the next step goes on."""
        try:
            return await work(self, *args)
        except Exception as error:  # noqa: BLE001
            where = traceback.extract_tb(error.__traceback__)
            ours = next((f for f in reversed(where) if "site-packages" not in f.filename), where[-1])
            return self.that(name, False, f"line {ours.lineno} ({ours.line}): {type(error).__name__}: {error}")

    async def phase(self, options, steps, snapshot, client):
        """The write phase runs the steps and keeps a snapshot; the read phase compares with it."""
        if options.phase == "write":
            for work in steps:
                await self.step(work.__name__, work, client)
            with open(options.state, "w", encoding="utf-8") as handle:
                json.dump(await snapshot(client), handle)
            return
        with open(options.state, encoding="utf-8") as handle:
            state = json.load(handle)
        for name, known in (await snapshot(client)).items():
            self.equal(f"{name} are as they were", known, state[name])

    def summary(self):
        """Prints the totals; the exit code."""
        for name in self.failed:
            print(f"failed: {name}")
        print(f"{self.passed} checks passed, {len(self.failed)} failed")
        return 1 if self.failed else 0


class Coverage:
    """Notes each public method of a client's classes that these scripts call, inherited ones with
    the class they are called on; calls inside the client do not count."""

    def __init__(self, classes):
        self.classes = sorted(classes, key=lambda cls: cls.__name__)
        self.used = set()
        for cls in {base for one in self.classes for base in one.__mro__ if base.__module__.startswith("timeback_")}:
            for name, function in list(vars(cls).items()):
                if inspect.isfunction(function) and public(name):
                    setattr(cls, name, self.watched(name, function))

    def watched(self, name, function):
        @functools.wraps(function)
        def call(this, *args, **kwargs):
            if sys._getframe(1).f_code.co_filename.startswith(OURS):
                self.used.add((type(this).__name__, name))
            return function(this, *args, **kwargs)
        return call

    def whole(self, check):
        """Checks that each method was used."""
        for cls in self.classes:
            methods = {name for name, _ in inspect.getmembers(cls, inspect.isfunction) if public(name)}
            missing = sorted(name for name in methods if (cls.__name__, name) not in self.used)
            check.that(f"every method of {cls.__name__} was used", not missing, ", ".join(missing))


def public(name):
    return not name.startswith("_") or name == "__call__"


def resource_classes(*modules):
    """Every resource class of the modules that is not a mere base."""
    found = {cls for module in modules for _, cls in inspect.getmembers(module, inspect.isclass)}
    return {cls for cls in found if not inspect.isabstract(cls) and cls.__name__.endswith("Resource")}
