"""Prepare the virtual environments of the outside tools and run one script in them.

    python3 bootstrap.py FOLDER clients|oneroster|fuzz|openapi|zones|badges|moto|otlp SCRIPT [ARGUMENT ...]

FOLDER holds one environment a kind, made once and reused. The published clients declare
Python >= 3.12. On 3.12+ they are installed as they are. On an older Python (3.10, 3.11) their
wheels are unpacked and their generic class headers (PEP 695), the only newer syntax in them,
are rewritten to typing.Generic.
"""
import ast
import fcntl
import os
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile

VERSION = "0.4.0"
LEGACY = "timeback==0.3.0"
PACKAGES = ["core", "common", "oneroster", "caliper", "edubridge", "qti", "powerpath", "clr", "case", "webhooks"]
DEPENDENCIES = ["httpx>=0.27,<0.29", "pydantic>=2.12,<3", "email-validator>=2.3",
                "typing_extensions>=4.12", "tzdata", "python-dotenv"]
FUZZ = ["schemathesis==4.32.5"]
OPENAPI = ["openapi-python-client==0.29.1", "openapi-spec-validator==0.9.0"]
ONEROSTER = ["strongmind-oneroster-client==2.0.5", "requests-oauthlib==2.0.0"]
MOTO = ["moto[server]==5.2.5"]
BADGES = ["openbadgeslib[ldp]==4.6.3"]
OTLP = ["opentelemetry-proto==1.45.2"]
ZONES = ["tzdata==2026.5"]  # The release of the database that is compiled into the program.
CLASS_HEAD = re.compile(r"^(\s*)class (\w+)\[(\w+)\](?:\((.*)\))?:", re.M)
DEF_HEAD = re.compile(r"^(\s*(?:async )?def \w+)\[[^\]]*\]", re.M)
TYPED_DICT = re.compile(r"^from typing import ([^\n(]*)\bTypedDict\b(?:, )?([^\n]*)$", re.M)


def run(*args):
    subprocess.run(args, check=True, stdout=subprocess.DEVNULL)


def generic_import(text, names):
    """The text with the imports that the rewritten class headers need, below its docstring."""
    line = 0
    for node in ast.parse(text).body:
        doc = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        future = isinstance(node, ast.ImportFrom) and node.module == "__future__"
        if not (doc or future):
            break
        line = node.end_lineno
    rows = text.split("\n")
    rows[line:line] = ["from typing import Generic as _Generic, TypeVar as _TypeVar"] + [
        f'{name} = _TypeVar("{name}")' for name in sorted(names)]
    return "\n".join(rows)


def typed_dict_import(match):
    rest = (match[1] + match[2]).strip(" ,")
    return "from typing_extensions import TypedDict\n" + (f"from typing import {rest}" if rest else "")


def backport(path):
    with open(path, encoding="utf-8") as handle:
        text = handle.read()
    names = set()

    def class_header(match):
        indent, name, var, bases = match.groups()
        names.add(var)
        return f"{indent}class {name}({bases + ', ' if bases else ''}_Generic[{var}]):"

    new = CLASS_HEAD.sub(class_header, text)
    if DEF_HEAD.search(new):
        names.add("T")
        new = DEF_HEAD.sub(r"\1", new)
    new = TYPED_DICT.sub(typed_dict_import, new)
    if new == text:
        return
    if names:
        new = generic_import(new, names)
    with open(path, "w", encoding="utf-8") as handle:
        handle.write(new)


def install_clients(python, pip):
    run(*pip, "install", *DEPENDENCIES)
    specs = [f"timeback-{package}=={VERSION}" for package in PACKAGES] + [LEGACY]
    site = subprocess.run([python, "-c", "import sysconfig;print(sysconfig.get_paths()['purelib'])"],
                          check=True, capture_output=True, text=True).stdout.strip()
    with tempfile.TemporaryDirectory() as folder:
        run(*pip, "download", "--no-deps", "--python-version", "3.13", "--only-binary=:all:",
            "-d", folder, *specs)
        for wheel in sorted(os.listdir(folder)):
            with zipfile.ZipFile(os.path.join(folder, wheel)) as archive:
                archive.extractall(site)
    for package in PACKAGES if sys.version_info < (3, 12) else []:
        for folder, _, files in os.walk(os.path.join(site, f"timeback_{package}")):
            for name in files:
                if name.endswith(".py"):
                    backport(os.path.join(folder, name))
    # As pip does it for what it installs. Otherwise each script compiles them again. What this Python cannot compile stays
    # as it is.
    compiled = [os.path.join(site, name) for name in os.listdir(site) if name.startswith("timeback")]
    subprocess.run([python, "-m", "compileall", "-q", *compiled], stdout=subprocess.DEVNULL)


def ensure(folder, kind):
    """The Python of the environment of that kind; made once, also when two tests ask at a time."""
    os.makedirs(folder, exist_ok=True)
    venv = os.path.join(folder, kind)
    python = os.path.join(venv, "bin", "python")
    pinned = {"clients": [VERSION, *PACKAGES], "oneroster": ONEROSTER, "fuzz": FUZZ, "openapi": OPENAPI, "zones": ZONES, "badges": BADGES, "moto": MOTO, "otlp": OTLP}[kind]
    stamp = os.path.join(venv, "-".join(["ready", *pinned]))
    with open(os.path.join(folder, f"{kind}.lock"), "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not os.path.exists(stamp):
            shutil.rmtree(venv, ignore_errors=True)
            run(sys.executable, "-m", "venv", venv)
            pip = [python, "-m", "pip", "-q", "--disable-pip-version-check"]
            if kind == "clients":
                install_clients(python, pip)
            else:
                run(*pip, "install", *pinned)
            open(stamp, "w", encoding="utf-8").close()
    return python


if __name__ == "__main__":
    interpreter = ensure(sys.argv[1], sys.argv[2])
    os.execv(interpreter, [interpreter, *sys.argv[3:]])
