// Issues a credential in each suite that is verified here: node suites.mjs CONTEXTS IN OUT
// IN: {"second", "first": credentials of VC 2.0 and 1.1; "mandatory", "selected": JSON pointers for each}
// OUT: {"credentials": {name: credential}, "tokens": {name: {"token", "jwk"}}}
import {readFileSync, writeFileSync} from 'node:fs';
import {DataIntegrityProof} from '@digitalbazaar/data-integrity';
import * as EcdsaMultikey from '@digitalbazaar/ecdsa-multikey';
import {cryptosuite as ecdsaRdfc} from '@digitalbazaar/ecdsa-rdfc-2019-cryptosuite';
import * as selective from '@digitalbazaar/ecdsa-sd-2023-cryptosuite';
import * as Ed25519Multikey from '@digitalbazaar/ed25519-multikey';
import {Ed25519Signature2020} from '@digitalbazaar/ed25519-signature-2020';
import {Ed25519VerificationKey2020} from '@digitalbazaar/ed25519-verification-key-2020';
import {cryptosuite as eddsaFormer} from '@digitalbazaar/eddsa-2022-cryptosuite';
import * as eddsaJcs from '@digitalbazaar/eddsa-jcs-2022-cryptosuite';
import {cryptosuite as eddsaRdfc} from '@digitalbazaar/eddsa-rdfc-2022-cryptosuite';
import * as vc from '@digitalbazaar/vc';
import {SignJWT, exportJWK, generateKeyPair} from 'jose';
import {loader} from './contexts.mjs';

const [contexts, input, output] = process.argv.slice(2);
const {second, first, mandatory, selected} = JSON.parse(readFileSync(input, 'utf8'));
const documentLoader = loader(contexts);

function named(key) {
  const name = `did:key:${key.publicKeyMultibase}`;
  return Object.assign(key, {controller: name, id: `${name}#${key.publicKeyMultibase}`});
}
const ed25519 = named(await Ed25519Multikey.generate());
const p256 = named(await EcdsaMultikey.generate({curve: 'P-256'}));
const p384 = named(await EcdsaMultikey.generate({curve: 'P-384'}));
const former = named(await Ed25519VerificationKey2020.generate());

async function issue(credential, key, suite) {
  const issuer = {...credential.issuer, id: key.controller};
  return vc.issue({credential: {...structuredClone(credential), issuer}, suite, documentLoader});
}
const integrity = (key, cryptosuite) => new DataIntegrityProof({signer: key.signer(), cryptosuite});

const credentials = {};
for(const [version, credential] of Object.entries({second, first})) {
  for(const [name, key, cryptosuite] of [
    ['eddsa-rdfc-2022', ed25519, eddsaRdfc],
    ['eddsa-2022', ed25519, eddsaFormer],
    ['eddsa-jcs-2022', ed25519, eddsaJcs.createSignCryptosuite()],
    ['ecdsa-rdfc-2019 P-256', p256, ecdsaRdfc],
    ['ecdsa-rdfc-2019 P-384', p384, ecdsaRdfc],
    ['ecdsa-sd-2023 base', p256,
      selective.createSignCryptosuite({mandatoryPointers: mandatory[version]})]
  ]) {
    credentials[`${name}, ${version}`] = await issue(credential, key, integrity(key, cryptosuite));
  }
  credentials[`ecdsa-sd-2023 derived, ${version}`] = await vc.derive({
    verifiableCredential: credentials[`ecdsa-sd-2023 base, ${version}`], documentLoader,
    suite: new DataIntegrityProof({
      cryptosuite: selective.createDiscloseCryptosuite({selectivePointers: selected[version]})
    })
  });
}
credentials['Ed25519Signature2020, first'] =
  await issue(first, former, new Ed25519Signature2020({key: former}));

const tokens = {};
const kid = `${second.issuer.id}#key-1`;
for(const alg of ['EdDSA', 'ES256', 'RS256', 'ES384']) {
  const {publicKey, privateKey} = await generateKeyPair(alg, {extractable: true});
  const jwk = await exportJWK(publicKey);
  const sign = (payload, header) =>
    new SignJWT(payload).setProtectedHeader({alg, kid, ...header}).sign(privateKey);
  tokens[`${alg}, second`] = {jwk, token: await sign(second, {typ: 'vc+jwt', cty: 'vc'})};
  // What the claims say is left out of the credential, as its issuers do.
  const {id, issuanceDate, issuer, credentialSubject: {id: sub, ...subject}, ...rest} = first;
  const {id: iss, ...profile} = issuer;
  const nbf = Date.parse(issuanceDate) / 1000;
  const credential = {...rest, issuer: profile, credentialSubject: subject};
  tokens[`${alg}, first`] = {
    jwk, token: await sign({vc: credential, iss, sub, nbf, jti: id}, {typ: 'JWT'})
  };
}
writeFileSync(output, JSON.stringify({credentials, tokens}));
