// Runs against the server at REGENT_URL.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { api, Batcher, check, DeadLetter, Regent, RegentError } from '../dist/index.js';

const regent = new Regent(process.env.REGENT_URL);
const queue = (name) => `ts-${name}-${process.pid}`;

test('consume hands over in order and stops gracefully', async () => {
  const q = queue('order');
  await regent.push(q, ...Array.from({ length: 20 }, (_, i) => ({ value: { n: i } })));
  const seen = [];
  for (const upto of [7, 20]) {
    const stop = new AbortController();
    await regent.consume(q, { group: 'g', batch: 5, waitMs: 2000, signal: stop.signal }, (m) => {
      seen.push(m.value.n);
      if (seen.length === upto) stop.abort();
    });
  }
  assert.deepEqual(seen, Array.from({ length: 20 }, (_, i) => i));
});

test('a failure comes again, a dead letter does not', async () => {
  const q = queue('failure');
  await regent.push(q, { value: 1 }, { value: 2 }, { value: 3 });
  const stop = new AbortController();
  const seen = [];
  await regent.consume(q, { group: 'g', waitMs: 2000, signal: stop.signal }, (m) => {
    seen.push(m.value);
    if (m.value === 1 && m.deliveryAttempt === 1) throw new Error('not today');
    if (m.value === 2) throw new DeadLetter('never');
    if (m.value === 3) stop.abort();
  });
  assert.deepEqual(seen, [1, 1, 2, 3]);
  const letters = await api.listDeadLetters({ client: regent.client, query: { queue: q } });
  assert.equal(letters.data.messages.length, 1);
  const { errorMessage, consumerGroup, data, transactionId, failedAt } = letters.data.messages[0]; // by value, not by count (F179)
  assert.deepEqual([errorMessage, consumerGroup, data], ['never', 'g', 2]);
  assert.match(`${transactionId} ${failedAt}`, /^[0-9a-f-]{36} \d{4}-.*Z$/);
});

test('a lease is renewed while a handler works', async () => {
  const q = queue('lease');
  await regent.push(q, { value: 1 });
  const stop = new AbortController();
  let times = 0;
  const consume = () =>
    regent.consume(q, { group: 'g', waitMs: 200, leaseMs: 1000, signal: stop.signal }, async () => {
      times++;
      await new Promise((r) => setTimeout(r, 2500));
      stop.abort();
    });
  await Promise.all([consume(), consume()]);
  assert.equal(times, 1);
});

test('a batcher makes few pushes', async () => {
  const q = queue('batcher');
  const batcher = new Batcher(regent, q, 50, 20);
  await Promise.all(Array.from({ length: 120 }, (_, i) => batcher.push({ value: i })));
  await batcher.close();
  const depth = await api.getQueueDepth({ client: regent.client, path: { queue: q } });
  assert.equal(depth.data.pending, 120);
});

test('errors name the field', async () => {
  await assert.rejects(regent.push('bad\u0001name', { value: 1 }), (e) => e instanceof RegentError && e.status === 400 && /queue/.test(e.message));
});

test('a stamp is a text that goes back as it came', async () => {
  const q = queue('stamp');
  await regent.push(q, { value: 1 });
  const ask = async (since) => check(await api.partitionsChanged({ client: regent.client, body: { entries: [{ queue: q, since }] } }));
  const first = await ask('1970-01-01T00:00:00Z');
  assert.match(first.entries[0].partitions[0].lastWriteAt, /\.\d{6}Z$/); // microseconds (F155)
  assert.match((await ask(first.safeTime)).safeTime, /\.\d{6}Z$/);
});
