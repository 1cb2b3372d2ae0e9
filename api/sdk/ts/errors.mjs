// Says what the client makes of each request in a file, as JSON.
import { readFileSync } from 'node:fs';
import { check, Regent, RegentError } from './dist/index.js';

const said = [];
for (const { name, url, token, method, path, body } of JSON.parse(readFileSync(process.argv[2], 'utf8'))) {
  const { client } = new Regent(url, token ? { token } : {});
  try {
    check(await client.request({ method, url: path, ...(body === null ? {} : { body, headers: { 'Content-Type': 'application/json' } }) }));
    said.push({ name });
  } catch (e) {
    if (!(e instanceof RegentError)) throw e;
    said.push({ name, status: e.status, code: e.code, text: e.message, retryable: e.retryable });
  }
}
console.log(JSON.stringify(said));
