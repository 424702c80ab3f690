"""Drives every operation of the published client `timeback-clr` against a running server.

`--phase write` upserts learner records and fails if one public method of the client was not used; what
was written is read back by the paths that the client does not have. `--phase read`, after a restart on
the same data, repeats the reads and compares them with what was noted.
"""
import asyncio
import sys

import httpx
from timeback_clr import ClrClient, ClrCredentialInput, InputValidationError, ValidationError
from timeback_clr.resources.credentials import CredentialsResource
from timeback_clr.resources.discovery import DiscoveryResource

from harness import Checks, Coverage, arguments

CONTEXTS = ["https://www.w3.org/ns/credentials/v2", "https://purl.imsglobal.org/spec/clr/v2p0/context-2.0.1.json",
            "https://purl.imsglobal.org/spec/ob/v3p0/context-3.0.3.json"]
LEARNER = "https://school.example/users/ada"


def achievement(name):
    return {"id": f"https://school.example/achievements/{name}", "type": ["Achievement"], "name": name,
            "description": f"Masters {name}", "criteria": {"narrative": f"Pass the test of {name}"}}


def record(*names):
    issuer = {"id": "https://school.example/issuer", "type": ["Profile"], "name": "A school"}
    return {
        "@context": CONTEXTS, "id": "https://school.example/clr/ada", "type": ["VerifiableCredential", "ClrCredential"],
        "issuer": issuer, "name": "Transcript", "description": "What Ada has learned", "validFrom": "2026-01-15T08:00:00Z",
        "credentialSubject": {
            "id": LEARNER, "type": ["ClrSubject"],
            "identifier": [{"type": "IdentityObject", "identityHash": "sha256$0a", "identityType": "emailAddress", "hashed": True, "salt": "s"}],
            "achievement": [achievement(name) for name in names],
            "verifiableCredential": [{
                "@context": [CONTEXTS[0], CONTEXTS[2]], "id": f"urn:uuid:00000000-0000-4000-8000-00000000000{n}",
                "type": ["VerifiableCredential", "AchievementCredential"], "issuer": issuer, "validFrom": "2026-01-15T08:00:00Z",
                "credentialSubject": {"id": LEARNER, "type": ["AchievementSubject"], "achievement": achievement(name)},
            } for n, name in enumerate(names)],
            "association": [{"type": "Association", "associationType": "precedes", "sourceId": achievement(names[0])["id"],
                             "targetId": achievement(names[-1])["id"]}],
        },
    }


class Plain:
    """Reads that the published client does not have."""

    def __init__(self, options):
        self.http = httpx.AsyncClient(base_url=options.base)
        self.options = options

    async def send(self, method, path, **more):
        token = await self.http.post(self.options.auth, data={
            "grant_type": "client_credentials", "client_id": self.options.id, "client_secret": self.options.secret})
        headers = {"Authorization": f"Bearer {token.json()['access_token']}"}
        answer = await self.http.request(method, path, headers=headers, **more)
        answer.raise_for_status()
        return answer.json()

    async def get(self, path):
        return await self.send("GET", path)

    async def enroll(self):
        """The learner whom the records are about."""
        rostering = "/ims/oneroster/rostering/v1p2"
        await self.send("POST", f"{rostering}/schools", json={"org": {"sourcedId": "school", "name": "A school", "type": "school"}})
        await self.send("POST", f"{rostering}/users", json={"user": {
            "sourcedId": "ada", "enabledUser": True, "givenName": "Ada", "familyName": "Lovelace",
            "roles": [{"roleType": "primary", "role": "student", "org": {"sourcedId": "school"}}]}})


async def upserting(check, clients):
    client, plain = clients
    await plain.enroll()
    made = await client.credentials.upsert(record("fractions"))
    check.equal("the record has its id and name", (made.id, made.name), ("https://school.example/clr/ada", "Transcript"))
    check.that("it is signed", made.proof and made.proof[0].cryptosuite == "eddsa-rdfc-2022", made.proof)
    check.that("the server is its issuer", made.issuer.id.startswith("did:web:"), made.issuer)
    subject = made.credential_subject
    check.equal("the learner is the subject", (subject.id, subject.type), (LEARNER, ["ClrSubject"]))
    check.equal("the issuer that was sent is the creator", subject.achievement[0].creator.name, "A school")
    check.that("each nested credential is signed", all(one.proof for one in subject.verifiable_credential))
    check.equal("associations stay", [a.association_type for a in subject.association], ["precedes"])
    check.equal("the same again is the same", (await client.credentials.upsert(record("fractions"))).proof, made.proof)
    model = ClrCredentialInput.model_validate(record("fractions", "decimals"))
    changed = await client.credentials.upsert(model)
    check.equal("an upsert replaces", [a.name for a in changed.credential_subject.achievement], ["fractions", "decimals"])
    read = await plain.get("/ims/clr/v2p0/clr/https%3A%2F%2Fschool.example%2Fclr%2Fada")
    check.equal("what is read is what was answered", read["proof"][0]["proofValue"], changed.proof[0].proof_value)


async def refusing(check, clients):
    client, _ = clients
    broken = record("fractions")
    broken["@context"] = broken["@context"][:2]
    await check.raises("the client asks for three contexts", InputValidationError, client.credentials.upsert(broken))
    broken = record("fractions")
    broken["credentialSubject"]["achievement"][0]["id"] = "no uri"
    await check.raises("an id that is no URI is refused", ValidationError, client.credentials.upsert(broken))


async def discovering(check, clients):
    client, _ = clients
    document = await client.discovery.get()
    check.that("the service describes itself", document["openapi"].startswith("3."), document.get("openapi"))
    flows = document["components"]["securitySchemes"]["OAuth2ACG"]["flows"]
    check.that("with its scopes", any("clr/v2p0" in scope for scope in flows["authorizationCode"]["scopes"]), flows)


async def snapshot(clients):
    _, plain = clients
    path = "/ims/clr/v2p0/clr/https%3A%2F%2Fschool.example%2Fclr%2Fada"
    return {
        "the records": await plain.get("/ims/clr/v2p0/credentials/"),
        "the achievements": await plain.get(f"{path}/achievements"),
        "the first version": await plain.get(f"{path}/versions/1"),
        "the record as it was sent": await plain.get(f"{path}?as=given"),
    }


async def main():
    options = arguments()
    check = Checks()
    coverage = Coverage([CredentialsResource, DiscoveryResource])
    client = ClrClient(base_url=options.base, auth_url=options.auth, client_id=options.id, client_secret=options.secret)
    await check.phase(options, [upserting, refusing, discovering], snapshot, (client, Plain(options)))
    if options.phase == "write":
        coverage.whole(check)
    await client.close()
    sys.exit(check.summary())


asyncio.run(main())
