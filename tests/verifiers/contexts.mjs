// The contexts of crates/credentials, by the table of their NOTICE.md; no network.
import {readFileSync} from 'node:fs';
import {join} from 'node:path';

/** A document loader for the contexts in `folder` and for `documents`, a map from address to document. */
export function loader(folder, documents = {}) {
  const known = new Map(Object.entries(documents));
  const notice = readFileSync(join(folder, 'NOTICE.md'), 'utf8');
  for(const [, file, url] of notice.matchAll(/^\| `([^`]+)` \| <([^>]+)>/gm)) {
    known.set(url, JSON.parse(readFileSync(join(folder, file), 'utf8')));
  }
  return async url => {
    if(!known.has(url)) {
      throw new Error(`unknown document ${url}`);
    }
    return {contextUrl: null, documentUrl: url, document: known.get(url)};
  };
}
