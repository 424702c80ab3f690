// Canonical N-Quads of documents, in safe mode: node canonize.mjs CONTEXTS IN OUT
// IN has a document a line; OUT gets {"quads"} or {"refused"} for each.
import {readFileSync, writeFileSync} from 'node:fs';
import jsonld from 'jsonld';
import {loader} from './contexts.mjs';

const [contexts, input, output] = process.argv.slice(2);
const documentLoader = loader(contexts);
const answers = [];
for(const line of readFileSync(input, 'utf8').trimEnd().split('\n')) {
  try {
    const quads = await jsonld.canonize(JSON.parse(line), {
      safe: true, documentLoader,
      canonizeOptions: {maxWorkFactor: 4}
    });
    answers.push(quads === '' ? {refused: 'says nothing'} : {quads});
  } catch(fault) {
    const why = fault.details?.event?.code ?? fault.details?.code ?? fault.name;
    answers.push({refused: `${why}: ${fault.message}`});
  }
}
writeFileSync(output, answers.map(answer => JSON.stringify(answer)).join('\n'));
