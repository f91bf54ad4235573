import fc from 'fast-check'
import t from 'tap'
import { verifies } from '../../../test/verifies.ts'
import { readJsonValue, setJsonValue } from '../src/config/edit-json.ts'

const strict = { comments: false }
const relaxed = { comments: true }
const read = (text: string, syntax = relaxed) => readJsonValue(text, [], syntax)

t.test('without comments, readJsonValue accepts and rejects the same texts as JSON.parse', async (t) => {
  const json = fc.json({ maxDepth: 4 }).map((text) => JSON.stringify(JSON.parse(text), null, 2))
  fc.assert(fc.property(json, (text) => t.same(read(text, strict), JSON.parse(text))))
  const broken = fc.tuple(json, fc.nat(), fc.constantFrom('', ',', '"', '}', '\\', '\n', '0', ':'))
  fc.assert(
    fc.property(broken, ([text, offset, inserted]) => {
      const at = offset % (text.length + 1)
      const changed = text.slice(0, at) + inserted + text.slice(at + 1)
      const outcome = (parse: () => unknown): string => {
        try {
          return JSON.stringify(parse())
        } catch {
          return 'rejected'
        }
      }
      t.equal(
        outcome(() => read(changed, strict)),
        outcome(() => JSON.parse(changed)),
        changed,
      )
    }),
  )
})

t.test('readJsonValue accepts comments and trailing commas if they are allowed', async (t) => {
  const text = '// a\n{ /* b */ "x": [1, 2,], // c\n "y": {"z": "// in a string"}, }\n'
  t.same(read(text), { x: [1, 2], y: { z: '// in a string' } })
  t.throws(() => read(text, strict), { message: /invalid comment token in line 1, column 1$/ })
})

t.test('readJsonValue reports the position of an error', async (t) => {
  const fails = (text: string, syntax: typeof strict, problem: string) =>
    t.throws(() => read(text, syntax), { message: `not valid JSON: ${problem}` }, text)
  fails('{\n  "x": 1,\n}', strict, 'property name expected in line 3, column 1')
  fails('{\n  "x" 1}', relaxed, 'colon expected in line 2, column 7')
  fails('{"x": 1} 2', relaxed, 'end of file expected in line 1, column 10')
  fails('{"x": /* never', relaxed, 'unexpected end of comment in line 1, column 7')
  fails('['.repeat(100_000), relaxed, 'nested too deeply')
})

t.test('readJsonValue returns the last of duplicate keys', async (t) => {
  t.equal(readJsonValue('{"a": {"b": 1}, "a": {"b": 2}}', ['a', 'b'], relaxed), 2)
  t.equal(readJsonValue('{"a": 1}', ['a', 'b', 'c'], relaxed), undefined)
})

/** Text of an object with arbitrary whitespace, comments and trailing commas. */
const formatted = fc
  .tuple(
    fc.dictionary(fc.string({ maxLength: 6 }), fc.jsonValue({ maxDepth: 2 }), { maxKeys: 5 }),
    fc.infiniteStream(fc.constantFrom('', ' ', '\n  ', '\t', ' // note\n', '/* "x": 1, */', '\r\n')),
    fc.boolean(),
  )
  .map(([object, gaps, hasTrailingCommas]) => {
    const gap = (): string => gaps.next().value as string
    const write = (value: unknown): string => {
      if (typeof value !== 'object' || value === null) return JSON.stringify(value)
      const isList = Array.isArray(value)
      const items = isList
        ? value.map((item) => gap() + write(item) + gap())
        : Object.entries(value).map(
            ([key, item]) => `${gap()}${JSON.stringify(key)}${gap()}:${gap()}${write(item)}${gap()}`,
          )
      const end = hasTrailingCommas && items.length > 0 ? `,${gap()}` : gap()
      return `${isList ? '[' : '{'}${items.join(',')}${end}${isList ? ']' : '}'}`
    }
    return gap() + write(object) + gap()
  })

const listComments = (text: string): string[] => text.match(/\/\/ note|\/\* "x": 1, \*\//g) ?? []

verifies('command:init:foreign-kept', 'setJsonValue preserves all other values and comments', async (t) => {
  const path = ['mcpServers', 'causeway']
  const set = (text: string, value: unknown): string | undefined => {
    try {
      return setJsonValue(text, path, value, relaxed)
    } catch (error) {
      t.match(error, { name: 'JsonEditError' })
      return undefined
    }
  }
  fc.assert(
    fc.property(formatted, fc.jsonValue({ maxDepth: 2 }), (text, value) => {
      const before = read(text) as Record<string, unknown>
      const after = set(text, value)
      if (after === undefined) return
      const servers = (before.mcpServers ?? {}) as Record<string, unknown>
      t.same(read(after), {
        ...before,
        mcpServers: { ...servers, causeway: JSON.parse(JSON.stringify(value)) },
      })
      t.same(listComments(after), listComments(text))
      t.same(read(set(after, value) ?? ''), read(after))
    }),
  )
})

t.test('setJsonValue formats a new property like its neighbours and changes no other text', async (t) => {
  const set = (text: string, path: string[], value: unknown) => setJsonValue(text, path, value, relaxed)
  t.equal(set('{}', ['a', 'b'], 1), '{\n  "a": {\n    "b": 1\n  }\n}')
  const tabs = '{\r\n\t"a": {\r\n\t\t"b": 1 // one\r\n\t}\r\n}\r\n'
  t.equal(
    set(tabs, ['a', 'c'], [2]),
    '{\r\n\t"a": {\r\n\t\t"b": 1, // one\r\n\t\t"c": [\r\n\t\t\t2\r\n\t\t]\r\n\t}\r\n}\r\n',
  )
  t.equal(set('{\n    "a": 1,\n}', ['b'], 2), '{\n    "a": 1,\n    "b": 2,\n}')
  t.equal(set('{"a": {"b": 1}}', ['a', 'b'], 2), '{"a": {"b": 2}}')
  t.equal(set('{"a": 1, "a": 2}', ['a'], 3), '{"a": 1, "a": 3}')
  t.throws(() => set('{"a": [1]}', ['a', 'b'], 2), { message: 'a is not an object' })
  t.throws(() => set('{"a": [/* why */ 1]}', ['a'], 2), { message: 'comments in a would be lost' })
  t.throws(() => set('[]', ['a'], 2), { message: 'the top level is not an object' })
})
