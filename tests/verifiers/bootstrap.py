"""Install the JavaScript stack of credentials and run one script with it.

    python3 bootstrap.py FOLDER SCRIPT.mjs [ARGUMENT ...]

FOLDER holds the packages of package-lock.json and copies of the scripts, made once and reused.
"""
import fcntl
import os
import shutil
import subprocess
import sys

SCRIPTS = os.path.dirname(os.path.abspath(__file__))


def read(path):
    try:
        with open(path, encoding="utf-8") as handle:
            return handle.read()
    except FileNotFoundError:
        return None


def ensure(folder):
    """Packages and scripts as they are wanted, also when two tests ask at a time."""
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, "lock"), "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        for name in os.listdir(SCRIPTS):
            source, copy = os.path.join(SCRIPTS, name), os.path.join(folder, name)
            if os.path.isfile(source) and read(source) != read(copy):
                shutil.copyfile(source, copy)
        stamp = os.path.join(folder, "installed")
        wanted = read(os.path.join(SCRIPTS, "package-lock.json"))
        if read(stamp) != wanted:
            subprocess.run(["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund"], cwd=folder,
                           check=True, stdout=subprocess.DEVNULL)
            with open(stamp, "w", encoding="utf-8") as handle:
                handle.write(wanted)


if __name__ == "__main__":
    ensure(sys.argv[1])
    os.execvp("node", ["node", os.path.join(sys.argv[1], sys.argv[2]), *sys.argv[3:]])
