// Verifies and signs credentials with @digitalbazaar/vc: node verify.mjs CONTEXTS IN OUT
// IN: {"verify": [credential], "sign": [credential], "seed": hex, "documents": {address: document}}
// OUT: {"verified": [{"verified", "error"}], "signed": [credential]}
import {readFileSync, writeFileSync} from 'node:fs';
import {DataIntegrityProof} from '@digitalbazaar/data-integrity';
import * as Ed25519Multikey from '@digitalbazaar/ed25519-multikey';
import {cryptosuite} from '@digitalbazaar/eddsa-rdfc-2022-cryptosuite';
import * as vc from '@digitalbazaar/vc';
import {loader} from './contexts.mjs';

const [contexts, input, output] = process.argv.slice(2);
const asked = JSON.parse(readFileSync(input, 'utf8'));

// A key is loaded by its own address, out of the document that lists it.
const documents = {...asked.documents};
for(const document of Object.values(asked.documents)) {
  for(const method of document.verificationMethod ?? []) {
    documents[method.id] = {'@context': 'https://w3id.org/security/multikey/v1', ...method};
  }
}
const documentLoader = loader(contexts, documents);

const verified = [];
for(const credential of asked.verify) {
  const result = await vc.verifyCredential({
    credential, documentLoader, suite: new DataIntegrityProof({cryptosuite}),
    checkStatus: async () => ({verified: true})
  });
  const errors = result.error?.errors ?? [result.error];
  verified.push({verified: result.verified, error: errors.map(error => error?.message).join('; ')});
}

const signed = [];
if(asked.sign.length > 0) {
  const key = await Ed25519Multikey.generate({seed: Buffer.from(asked.seed, 'hex')});
  const name = `did:key:${key.publicKeyMultibase}`;
  Object.assign(key, {controller: name, id: `${name}#${key.publicKeyMultibase}`});
  for(const credential of asked.sign) {
    const suite = new DataIntegrityProof({signer: key.signer(), cryptosuite});
    signed.push(await vc.issue({credential, suite, documentLoader}));
  }
}
writeFileSync(output, JSON.stringify({verified, signed}));
