/** Values that break careless code: wrong types, edge values, large values and injections. */
import type { Random } from '../random.ts'

/** A placeholder for JSON text that JSON.stringify cannot produce, such as a number beyond the range of a double. */
export const literal = (json: string): string => `⟦${json}⟧`

/** Serializes a value and replaces the placeholders of `literal`. */
export const toJson = (value: unknown): string =>
  (JSON.stringify(value) ?? 'null').replace(/"⟦([^"⟧]*)⟧"/g, '$1')

/** Targets of injections. The paths are specific to the run. */
export interface Traps {
  /** A file outside every root that must not be readable. */
  readonly outsideFile: string
  /** A symbolic link in a root to the folder of that file. */
  readonly link: string
  /** A file that only an executed injection can create. */
  readonly canary: string
}

const names = [
  '__proto__',
  'constructor',
  'prototype',
  'toString',
  'hasOwnProperty',
  'valueOf',
  '__defineGetter__',
]

const unicode = [
  '\ud800',
  '\udc00\ud800',
  'a\ud83d',
  '\u202e\u2066gnp.exe',
  '\ufeff',
  '\ufffe\uffff',
  'e\u0301'.repeat(200),
  'ﷺ'.repeat(300),
  '👨‍👩‍👧‍👦'.repeat(40),
  'İıſK',
  '\u2028\u2029',
  '\u0000',
  'a\u0000b.db',
  '\u001b[2J\u001b]0;x\u0007',
  '\r\n\r\nHTTP/1.1 200 OK',
  '%00%2e%2e%2f',
  'ａｂｃ',
]

const numbers: readonly unknown[] = [
  0,
  -0,
  -1,
  1,
  0.1,
  -0.5,
  2 ** 31,
  -(2 ** 31) - 1,
  2 ** 32,
  2 ** 53,
  -(2 ** 53),
  1e21,
  1e308,
  -1e308,
  5e-324,
  literal('1e999'),
  literal('-1e999'),
  literal('123456789012345678901234567890'),
  literal(`0.${'1'.repeat(400)}`),
]

const numberTexts = [
  'NaN',
  'Infinity',
  '-Infinity',
  '1e999',
  '0x10',
  '1_000',
  '１２',
  '',
  ' 1 ',
  '-',
  '0n',
  'null',
]

const injections = ({ outsideFile, link, canary }: Traps): readonly string[] => [
  outsideFile,
  `file://${outsideFile}`,
  `${'../'.repeat(12)}${outsideFile.slice(1)}`,
  `${'..\\'.repeat(12)}${outsideFile.slice(1)}`,
  `${link}/secret.txt`,
  `./${link}/../${link}/secret.txt`,
  `${link}//secret.txt`,
  '/etc/passwd',
  '/proc/self/environ',
  '/dev/zero',
  '/dev/stdin',
  '.',
  '..',
  '/',
  '~',
  'C:\\Windows\\win.ini',
  '\\\\host\\share',
  'CON',
  '-rf',
  '--help',
  `$(touch ${canary})`,
  `\`touch ${canary}\``,
  `; touch ${canary} #`,
  `| touch ${canary}`,
  `&& touch ${canary}`,
  `x'; touch ${canary}; '`,
  `\ntouch ${canary}\n`,
  `"; require('fs').writeFileSync('${canary}','') //`,
  "' OR '1'='1",
  "'; DROP TABLE frames; --",
  `ATTACH '${outsideFile}' AS x`,
  `VACUUM INTO '${canary}'`,
  'PRAGMA writable_schema=1',
  "SELECT load_extension('x')",
  'WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n) SELECT count(*) FROM n',
  '" OR NEAR("x" "y", 9999999999)',
  'NOT * ^ { : AND',
  '%s%s%s%n',
  '{{7*7}}<%= 7 %>#{7*7}',
  '<script>alert(1)</script>',
  '<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]><gpx>&x;</gpx>',
  '<!DOCTYPE a [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]><gpx>&b;&b;</gpx>',
  'javascript:alert(1)',
  'http://169.254.169.254/latest/meta-data/',
  '(a+)+$',
  `${'a'.repeat(40)}!`,
  '[['.repeat(30),
  'body.__proto__.speed > 1',
  'mind://../../etc/passwd',
  '🚀; DROP',
]

const deep = (depth: number, wrap: (inner: unknown) => unknown): unknown => {
  let value: unknown = 1
  for (let level = 0; level < depth; level += 1) value = wrap(value)
  return value
}

/** Returns an object with an own member of this name, which may be `__proto__`. */
export const withMember = (name: string, value: unknown): object =>
  Object.defineProperty({}, name, { value, enumerable: true, configurable: true, writable: true })

/** Returns a random bad value. One in two hundred has some hundred kilobytes. */
export function nasty(random: Random, traps: Traps): unknown {
  if (random.below(200) === 0) return large(random)
  return random.pick([
    () => random.pick([null, true, false, [], {}, [[]], [null], { '': null }, '', ' ']),
    () => random.pick(numbers),
    () => random.pick(numberTexts),
    () => random.pick(unicode),
    () => random.pick(injections(traps)),
    () => random.pick(injections(traps)),
    () => random.pick(names),
    () => withMember(random.pick(names), random.pick([{ polluted: true }, null, 'x'])),
    () => random.pick([deep(60, (inner) => [inner]), deep(60, (inner) => ({ a: inner }))]),
    () => Array.from({ length: random.below(40) }, () => random.pick([...numbers, ...numberTexts, null])),
  ])()
}

/** Returns a random bad string. */
export const nastyText = (random: Random, traps: Traps): string =>
  random.pick([
    () => random.pick(unicode),
    () => random.pick(injections(traps)),
    () => random.pick(numberTexts),
  ])()

/** Returns a random bad member name. */
export const nastyName = (random: Random, traps: Traps): string =>
  random.pick([() => random.pick(names), () => nastyText(random, traps)])()

/** Returns a random bad number. */
export const nastyNumber = (random: Random): unknown => random.pick(numbers)

function large(random: Random): unknown {
  return random.pick<() => unknown>([
    () => 'x'.repeat(300_000),
    () => '../'.repeat(50_000),
    () => 'é'.repeat(100_000),
    () => deep(3000, (inner) => [inner]),
    () => deep(3000, (inner) => ({ a: inner })),
    () => Array.from({ length: 20_000 }, (_, at) => at),
    () => Object.fromEntries(Array.from({ length: 5000 }, (_, at) => [`k${at}`, at])),
  ])()
}

/** Replaces lone surrogates, which cannot be percent-encoded. */
export const wellFormed = (text: string): string => Buffer.from(text, 'utf8').toString('utf8')
