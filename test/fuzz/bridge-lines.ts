/** Invalid lines for the bridge, generated from a seed so that each run can be repeated. */

import type { Random } from '../random.ts'

/** Returns a line without a line feed. */
export type Fault = (random: Random) => Buffer

const bytes = (random: Random, length: number): Buffer =>
  Buffer.from(Array.from({ length }, () => random.below(256)).map((byte) => (byte === 10 ? 32 : byte)))

const values = [null, true, 0, -1, 1e308, '', 'text', [], {}, [[]], { a: null }, '\u0000', '\ud800']

/** A message with members of the wrong type. */
const wrongTypes: Fault = (random) => {
  const message: Record<string, unknown> = {}
  for (const member of ['jsonrpc', 'id', 'method', 'params', 'result', 'error'])
    if (random.below(2) === 0) message[member] = random.pick(values)
  if (random.below(2) === 0) message.jsonrpc = '2.0'
  return Buffer.from(JSON.stringify(message))
}

/** A valid request with one broken part. */
const damaged: Fault = (random) => {
  const good = Buffer.from('{"jsonrpc":"2.0","id":"fuzz","method":"tools/call","params":{"name":"é"}}')
  const at = random.below(good.length)
  return random.pick([
    () => good.subarray(0, at),
    () => Buffer.concat([good.subarray(0, at), bytes(random, 1 + random.below(4)), good.subarray(at)]),
    () => Buffer.concat([good, good]),
    () => Buffer.from(good).fill(random.below(256) === 10 ? 0 : random.below(10), at, at + 1),
  ])()
}

/** Faults by name. */
export const faults: Readonly<Record<string, Fault>> = {
  bytes: (random) => bytes(random, random.below(400)),
  nul: (random) => Buffer.alloc(random.below(50)),
  blank: (random) => Buffer.from(random.pick(['', ' ', '\t', '\r', '  \r'])),
  literal: (random) => Buffer.from(JSON.stringify(random.pick(values))),
  split: () => Buffer.from([0x7b, 0x22, 0xf0, 0x9f, 0x98]),
  wrongTypes,
  damaged,
  batch: (random) =>
    Buffer.concat([
      Buffer.from('['),
      ...Array.from({ length: random.below(4) }, () => Buffer.concat([wrongTypes(random), Buffer.from(',')])),
      Buffer.from('7]'),
    ]),
  cancel: (random) =>
    Buffer.from(
      JSON.stringify({
        jsonrpc: '2.0',
        method: 'notifications/cancelled',
        params: random.pick([undefined, {}, { requestId: random.pick(values) }]),
      }),
    ),
  response: (random) => Buffer.from(JSON.stringify({ jsonrpc: '2.0', id: random.below(9), result: {} })),
}

/** Faults of megabytes. */
export const largeFaults: Readonly<Record<string, Fault>> = {
  long: () => Buffer.alloc(12_000_000, 'x'),
  longText: () => Buffer.from(`{"jsonrpc":"2.0","id":"long","params":"${'é'.repeat(6_000_000)}"}`),
  deep: () => Buffer.from(`${'['.repeat(300_000)}${']'.repeat(300_000)}`),
  deepBatch: () =>
    Buffer.from(
      `[{"jsonrpc":"2.0","id":"d","method":"m","params":${'{"a":'.repeat(50_000)}1${'}'.repeat(50_000)}}]`,
    ),
  deepNextToHidden: () =>
    Buffer.from(
      `[{"jsonrpc":"2.0","id":"h","method":"tools/call","params":{"name":"h"}},{"jsonrpc":"2.0","id":"s","method":"tools/call","params":{"name":"shown","a":${'{"a":'.repeat(50_000)}1${'}'.repeat(50_000)}}}]`,
    ),
  deepParams: () =>
    Buffer.from(`{"jsonrpc":"2.0","method":"n","params":${'{"a":'.repeat(50_000)}1${'}'.repeat(50_000)}}`),
}
