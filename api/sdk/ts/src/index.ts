/**
 * The TypeScript client of Regent. Everything in ./gen is generated from the
 * OpenAPI document and has every route; this file adds what one writes around it:
 * typed messages, a consume loop that renews its leases, batching, retries, and a
 * stop that gives back what was not worked on.
 */
import { randomBytes } from 'node:crypto';
import { createClient, createConfig, type Client } from './gen/client/index.js';
import { ackBatch, extendLease, popQueue, push } from './gen/sdk.gen.js';
import type { AckItem, PoppedMessage, PushResult } from './gen/types.gen.js';

export * as api from './gen/sdk.gen.js';
export type * from './gen/types.gen.js';

/** An answer of the server that is not a success. */
export class RegentError extends Error {
  constructor(
    message: string,
    /** HTTP status. */
    readonly status: number,
    /** A stable word such as QN404. */
    readonly code: string,
    /** The same call may work later and nothing was done. */
    readonly retryable: boolean,
    /** How long the server asks to wait, in milliseconds. */
    readonly afterMs: number,
  ) {
    super(message);
    this.name = 'RegentError';
  }
}

/** Thrown by a handler: move the message to the dead letters at once. */
export class DeadLetter extends Error {}

export interface RegentOptions {
  /** A JWT or an API key, sent with every call. */
  token?: string;
  /** How often a call that fails for a reason that may pass is made; 8, about 25 seconds. */
  tries?: number;
  fetch?: typeof fetch;
}

/** One message to be pushed. */
export interface Item<T> {
  /** The payload; it is encoded as JSON. */
  value: T;
  /** Where order is kept; Default without one. */
  partition?: string;
  /** The deduplication key. Drawn without one, so that a repeated push stores nothing twice. */
  id?: string;
  /** What the message is about, for queues that keep the latest of each key. */
  key?: string;
}

/** A delivered message with its payload. */
export type Message<T> = Omit<PoppedMessage, 'data'> & { value: T };

export interface ConsumeOptions {
  /** Shares the messages among its consumers; queue mode without one. */
  group?: string;
  /** Messages taken at once; 100. */
  batch?: number;
  /** How long one call waits for messages, in milliseconds; 20000. */
  waitMs?: number;
  /** How long a message may be worked on, renewed every third of it, in milliseconds; 60000. */
  leaseMs?: number;
  /** Where a new group begins: all, or new for what comes. */
  from?: 'all' | 'new';
  /** Ends the loop: the running handler gets to its end, the rest is given back. */
  signal?: AbortSignal;
}

/** Calls one Regent server. */
export class Regent {
  /** For the generated functions: api.getQueue({ client: regent.client, path: { queue } }). */
  readonly client: Client;
  private readonly tries: number;

  constructor(url: string, options: RegentOptions = {}) {
    this.tries = Math.max(options.tries ?? 8, 1);
    this.client = createClient(
      createConfig({
        baseUrl: url,
        fetch: options.fetch,
        headers: options.token ? { Authorization: `Bearer ${options.token}` } : undefined,
      }),
    );
  }

  /**
   * Stores messages of one queue in order and resolves when they are durable, or
   * buffered durably by the server while its database is away.
   */
  async push<T>(queue: string, ...items: Item<T>[]): Promise<PushResult[]> {
    const body = {
      items: items.map((i) => ({ queue, payload: i.value, partition: i.partition, key: i.key, transactionId: i.id ?? uuidv7() })),
    };
    return this.retry(async () => {
      const results = check(await push({ client: this.client, body })) as PushResult[];
      const failed = results.find((r) => r.status === 'failed');
      if (failed) {
        throw new RegentError(failed.error ?? 'a message failed', 201, '', true, 0);
      }
      return results;
    });
  }

  /**
   * Hands the messages of a queue to handle, one after the other and in order inside
   * each partition, until the signal. A message is acknowledged when handle resolves;
   * an error is a failed try, and the message comes again until the queue's retryLimit
   * makes a dead letter of it. Delivery is at least once.
   */
  async consume<T>(queue: string, options: ConsumeOptions, handle: (message: Message<T>) => Promise<void> | void): Promise<void> {
    const o = { batch: 100, waitMs: 20_000, leaseMs: 60_000, from: 'all' as const, ...options };
    const seconds = Math.max(Math.floor(o.leaseMs / 1000), 1);
    while (!o.signal?.aborted) {
      let got;
      try {
        got = await this.retry(
          async () =>
            check(
              await popQueue({
                client: this.client,
                path: { queue },
                query: { consumerGroup: o.group, batch: o.batch, wait: true, timeout: o.waitMs, leaseSeconds: seconds, subscriptionMode: o.from },
                signal: o.signal,
              }),
            ),
          o.signal,
        );
      } catch (error) {
        if (o.signal?.aborted) return;
        throw error;
      }
      if (got && typeof got === 'object' && 'messages' in got && got.messages.length > 0) {
        await this.work(got.leaseId, got.messages, seconds, o, handle);
      }
    }
  }

  private async work<T>(
    lease: string,
    messages: PoppedMessage[],
    seconds: number,
    o: ConsumeOptions & { leaseMs: number },
    handle: (message: Message<T>) => Promise<void> | void,
  ): Promise<void> {
    // A renewal that fails is tried again at the next turn; the lease still runs.
    const renewing = setInterval(() => {
      extendLease({ client: this.client, path: { leaseId: lease }, body: { seconds } }).catch(() => {});
    }, (seconds * 1000) / 3);
    const acks: AckItem[] = [];
    try {
      for (const message of messages) {
        if (o.signal?.aborted) {
          acks.push(ackOf(message, 'retry'));
          continue;
        }
        const { data, ...rest } = message;
        try {
          await handle({ ...rest, value: data as T });
          acks.push(ackOf(message, 'completed'));
        } catch (error) {
          acks.push(ackOf(message, error instanceof DeadLetter ? 'dlq' : 'failed', String(error instanceof Error ? error.message : error)));
          break; // the server gives back what stands behind it
        }
      }
      await this.retry(async () => check(await ackBatch({ client: this.client, body: { consumerGroup: o.group, acknowledgments: acks } })));
    } finally {
      clearInterval(renewing);
    }
  }

  private async retry<R>(call: () => Promise<R>, signal?: AbortSignal): Promise<R> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await call();
      } catch (error) {
        const said = error instanceof RegentError ? error : undefined;
        if (signal?.aborted || attempt >= this.tries || (said && !said.retryable)) throw error;
        const pause = Math.min(100 * 2 ** (attempt - 1), 10_000);
        await sleep(Math.max(pause / 2 + (Math.random() * pause) / 2, said?.afterMs ?? 0), signal);
      }
    }
  }
}

/** Gathers messages of concurrent callers into few pushes. */
export class Batcher<T> {
  private items: Item<T>[] = [];
  private waiting: { resolve: () => void; reject: (error: unknown) => void }[] = [];
  private timer?: NodeJS.Timeout;
  private running = new Set<Promise<void>>();

  /** Pushes when size messages came together, or lingerMs after the first. */
  constructor(private readonly regent: Regent, private readonly queue: string, private readonly size = 500, private readonly lingerMs = 5) {}

  /** Resolves when the message is durable. */
  push(item: Item<T>): Promise<void> {
    return new Promise((resolve, reject) => {
      this.items.push(item);
      this.waiting.push({ resolve, reject });
      if (this.items.length >= this.size) this.flush();
      else this.timer ??= setTimeout(() => this.flush(), this.lingerMs);
    });
  }

  private flush(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    const [items, waiting] = [this.items, this.waiting];
    if (items.length === 0) return;
    this.items = [];
    this.waiting = [];
    const sent = this.regent.push(this.queue, ...items).then(
      () => waiting.forEach((w) => w.resolve()),
      (error) => waiting.forEach((w) => w.reject(error)),
    );
    this.running.add(sent);
    void sent.finally(() => this.running.delete(sent));
  }

  /** Sends what is left and waits for it. */
  async close(): Promise<void> {
    this.flush();
    await Promise.all(this.running);
  }
}

function ackOf(m: PoppedMessage, status: string, error?: string): AckItem {
  return { transactionId: m.transactionId, partitionId: m.partitionId, leaseId: m.leaseId, status, error };
}

/**
 * The body of a success; throws RegentError for every other answer. For the generated
 * functions: check(await api.getQueue({ client: regent.client, path: { queue } })).
 */
export function check<D>(result: { data?: D; error?: unknown; response?: Response }): D | undefined {
  const { response } = result;
  if (!response) throw result.error instanceof Error ? result.error : new Error(String(result.error));
  if (response.ok) return result.data;
  const said = (typeof result.error === 'object' && result.error !== null ? result.error : {}) as { error?: string; code?: string; retryable?: boolean };
  const busy = response.status === 503 || response.status === 429;
  const after = Number(response.headers.get('Retry-After')) || 0;
  throw new RegentError(said.error ?? response.statusText, response.status, said.code ?? '', said.retryable ?? busy, after * 1000);
}

function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(done, ms);
    signal?.addEventListener('abort', done, { once: true });
    function done() {
      clearTimeout(timer);
      signal?.removeEventListener('abort', done);
      resolve();
    }
  });
}

/** A time-ordered id, which the server deduplicates cheaply. */
function uuidv7(): string {
  const bytes = randomBytes(16);
  bytes.writeUIntBE(Date.now(), 0, 6);
  bytes[6] = (bytes[6]! & 0x0f) | 0x70;
  bytes[8] = (bytes[8]! & 0x3f) | 0x80;
  const hex = bytes.toString('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}
