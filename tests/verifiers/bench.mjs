// Issues and verifies one badge over and over with @digitalbazaar/vc: node bench.mjs CONTEXTS IN OUT
// IN: {"credential", "seconds"}; OUT: {"issue", "verify"}, times a second. Contexts are in memory.
import {readFileSync, writeFileSync} from 'node:fs';
import {DataIntegrityProof} from '@digitalbazaar/data-integrity';
import * as Ed25519Multikey from '@digitalbazaar/ed25519-multikey';
import {cryptosuite} from '@digitalbazaar/eddsa-rdfc-2022-cryptosuite';
import * as vc from '@digitalbazaar/vc';
import {loader} from './contexts.mjs';

const [contexts, input, output] = process.argv.slice(2);
const {credential, seconds} = JSON.parse(readFileSync(input, 'utf8'));

const key = await Ed25519Multikey.generate({seed: Buffer.alloc(32, 7)});
const name = `did:key:${key.publicKeyMultibase}`;
Object.assign(key, {controller: name, id: `${name}#${key.publicKeyMultibase}`});
const method = await key.export({publicKey: true, includeContext: true});
const documentLoader = loader(contexts, {
  [key.id]: method,
  [name]: {
    '@context': ['https://www.w3.org/ns/did/v1', 'https://w3id.org/security/multikey/v1'],
    id: name, assertionMethod: [key.id], verificationMethod: [method]
  }
});

const issue = () => vc.issue({
  credential: structuredClone(credential), documentLoader,
  suite: new DataIntegrityProof({signer: key.signer(), cryptosuite})
});
const signed = await issue();
const verify = async () => {
  const {verified, error} = await vc.verifyCredential({
    credential: structuredClone(signed), documentLoader,
    suite: new DataIntegrityProof({cryptosuite}), checkStatus: async () => ({verified: true})
  });
  if(!verified) {
    throw error;
  }
};

async function rate(call) {
  for(let warm = 0; warm < 200; ++warm) {
    await call();
  }
  const begun = process.hrtime.bigint();
  let count = 0, elapsed = 0;
  while(elapsed < seconds) {
    await call();
    count += 1;
    elapsed = Number(process.hrtime.bigint() - begun) / 1e9;
  }
  return count / elapsed;
}

writeFileSync(output, JSON.stringify({issue: await rate(issue), verify: await rate(verify)}));
