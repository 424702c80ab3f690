// Verifies a credential of a running server with an implementation that is not ours, status included.
//
//     node served.mjs BASE CONTEXTS FILE
//
// BASE is the server's address, CONTEXTS the folder of JSON-LD contexts, FILE the credential. Prints
// {verified, errors}. What a did:web names is read from the server by its plain address: a test server has
// no certificate.
import { readFile } from 'node:fs/promises';
import { gunzipSync } from 'node:zlib';
import * as vc from '@digitalbazaar/vc';
import { DataIntegrityProof } from '@digitalbazaar/data-integrity';
import { cryptosuite } from '@digitalbazaar/eddsa-rdfc-2022-cryptosuite';
import { loader } from './contexts.mjs';

const [base, folder, file] = process.argv.slice(2);
const contexts = loader(folder);
const did = `did:web:${new URL(base).host.replace(':', '%3A')}`;

async function json(url) {
  const answer = await fetch(url);
  if (!answer.ok) throw new Error(`${url} answered ${answer.status}`);
  return answer.json();
}

/** The document of a did:web of the server. */
function issuer(id) {
  const path = id.slice(did.length).split(':').filter(Boolean).join('/');
  return json(path ? `${base}/${path}/did.json` : `${base}/.well-known/did.json`);
}

async function documentLoader(url) {
  const found = (document) => ({ contextUrl: null, documentUrl: url, document });
  const [id, fragment] = url.split('#');
  if (id !== did && !id.startsWith(`${did}:`)) return contexts(url);
  const document = await issuer(id);
  if (!fragment) return found(document);
  const method = document.verificationMethod.find((known) => known.id === url);
  if (!method) throw new Error(`${url} is not listed`);
  return found({ '@context': 'https://w3id.org/security/multikey/v1', ...method });
}

const suite = () => new DataIntegrityProof({ cryptosuite });

async function checkStatus({ credential }) {
  const status = credential.credentialStatus;
  const list = await json(status.statusListCredential);
  const signed = await vc.verifyCredential({ credential: list, suite: suite(), documentLoader });
  if (!signed.verified) return { verified: false, error: new Error('the status list is not signed well') };
  const bits = gunzipSync(Buffer.from(list.credentialSubject.encodedList.slice(1), 'base64url'));
  const index = Number(status.statusListIndex);
  const revoked = (bits[index >> 3] >> (7 - (index & 7))) & 1;
  return revoked ? { verified: false, error: new Error('the credential is revoked') } : { verified: true };
}

async function verified(credential) {
  const told = await vc.verifyCredential({ credential, suite: suite(), documentLoader, checkStatus });
  const causes = [told.error, ...(told.error?.errors ?? []), told.statusResult?.error];
  const errors = causes.filter(Boolean).map((error) => error.message);
  return { verified: told.verified, errors };
}

const credential = JSON.parse(await readFile(file, 'utf8'));
const all = [credential, ...[credential.credentialSubject.verifiableCredential ?? []].flat()];
const reports = await Promise.all(all.map(verified));
console.log(JSON.stringify({
  verified: reports.every((report) => report.verified),
  errors: reports.flatMap((report) => report.errors),
}));
