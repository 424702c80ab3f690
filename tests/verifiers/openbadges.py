"""Verify credentials with openbadgeslib: python openbadges.py FOLDER

FOLDER/asked.json: {"pem", "recipient", "documents": [credential], "tokens": [JWS], "images": [file name]}.
Prints one JSON object with a list a kind: true, or why not.
"""
import contextlib
import io
import json
import os
import subprocess
import sys

from openbadgeslib import ob3

folder = sys.argv[1]
with open(os.path.join(folder, "asked.json"), encoding="utf-8") as handle:
    asked = json.load(handle)
pem = asked["pem"].encode()
key = os.path.join(folder, "key.pem")
with open(key, "wb") as handle:
    handle.write(pem)


def tried(call, *arguments, **named):
    try:
        call(*arguments, **named)
        return True
    except Exception as error:  # Whatever it says is the answer.
        return f"{type(error).__name__}: {error}"


def document(credential):
    proof = tried(ob3.verify_data_integrity_proof, credential, pem)
    whole = tried(ob3.OB3LdpVerifier(pubkey_pem=pem).verify, credential,
                  expected_recipient=asked["recipient"])
    return [proof, whole]


def image(name):
    run = subprocess.run(
        [os.path.join(os.path.dirname(sys.executable), "openbadges-verifier"), "--json",
         "-i", os.path.join(folder, name), "-r", asked["recipient"], "-k", key],
        capture_output=True, text=True, check=False)
    return True if run.returncode == 0 else run.stdout + run.stderr


with contextlib.redirect_stderr(io.StringIO()):
    answer = {
        "documents": [document(one) for one in asked["documents"]],
        "tokens": [tried(ob3.OB3Verifier(pem).verify, one, expected_recipient=asked["recipient"])
                   for one in asked["tokens"]],
        "images": [image(name) for name in asked["images"]],
    }
print(json.dumps(answer))
