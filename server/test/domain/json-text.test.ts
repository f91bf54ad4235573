import fc from 'fast-check'
import t from 'tap'
import { verifies } from '../../../test/verifies.ts'
import { setValue, valueAt } from '../../src/domain/edit-json-text.ts'
import { type JsonProblem, readJsonText } from '../../src/domain/json-text.ts'

const read = (text: string, comments = true) => readJsonText(text, { comments })

t.test('readJsonText: what JSON.parse reads, it reads alike, and what it refuses is refused', async (t) => {
  const json = fc.json({ maxDepth: 4 }).map((text) => JSON.stringify(JSON.parse(text), null, 2))
  fc.assert(fc.property(json, (text) => t.same(read(text, false).value, JSON.parse(text))))
  const broken = fc.tuple(json, fc.nat(), fc.constantFrom('', ',', '"', '}', '\\', '\n', '0', ':'))
  fc.assert(
    fc.property(broken, ([text, at, put]) => {
      const cut = at % (text.length + 1)
      const changed = text.slice(0, cut) + put + text.slice(cut + 1)
      const verdict = (parse: () => unknown): string => {
        try {
          return JSON.stringify(parse())
        } catch {
          return 'refused'
        }
      }
      t.equal(
        verdict(() => read(changed, false).value),
        verdict(() => JSON.parse(changed)),
        changed,
      )
    }),
  )
})

t.test(
  'readJsonText: comments and trailing commas where they are allowed, and the place of what is wrong',
  async (t) => {
    const text = '// a\n{ /* b */ "x": [1, 2,], // c\n "y": {"z": "// no comment"}, }\n'
    t.same(read(text).value, { x: [1, 2], y: { z: '// no comment' } })
    t.same(read('\uFEFF{}', false).value, {})
    const place = (text: string, comments: boolean) => {
      try {
        return read(text, comments).value
      } catch (error) {
        const { line, column } = error as JsonProblem
        return [line, column]
      }
    }
    t.same(place(text, false), [1, 1])
    t.same(place('{\n  "x": 1,\n}', false), [2, 9])
    t.same(place('{\n  "x" 1}', true), [2, 7])
    t.same(place('{"x": 1} 2', true), [1, 10])
    t.same(place('{"x": /* never', true), [1, 7])
    t.same(place('['.repeat(600), true), [1, 502])
  },
)

/** A text of an object in any manner: blanks, lines, comments and a trailing comma here and there. */
const written = fc
  .tuple(
    fc.dictionary(fc.string({ maxLength: 6 }), fc.jsonValue({ maxDepth: 2 }), { maxKeys: 5 }),
    fc.infiniteStream(fc.constantFrom('', ' ', '\n  ', '\t', ' // note\n', '/* "x": 1, */', '\r\n')),
    fc.boolean(),
  )
  .map(([object, gaps, trails]) => {
    const gap = (): string => gaps.next().value as string
    const write = (value: unknown): string => {
      if (typeof value !== 'object' || value === null) return JSON.stringify(value)
      const isList = Array.isArray(value)
      const items = isList
        ? value.map((item) => gap() + write(item) + gap())
        : Object.entries(value).map(
            ([key, item]) => `${gap()}${JSON.stringify(key)}${gap()}:${gap()}${write(item)}${gap()}`,
          )
      const end = trails && items.length > 0 ? `,${gap()}` : gap()
      return `${isList ? '[' : '{'}${items.join(',')}${end}${isList ? ']' : '}'}`
    }
    return gap() + write(object) + gap()
  })

const commentsOf = (text: string): string[] => text.match(/\/\/ note|\/\* "x": 1, \*\//g) ?? []

verifies('command:init:foreign-kept', 'whatever else stands in the file, in any manner', async (t) => {
  const path = ['mcpServers', 'causeway']
  fc.assert(
    fc.property(written, fc.jsonValue({ maxDepth: 2 }), (text, value) => {
      const root = read(text)
      const before = root.value as Record<string, unknown>
      const { text: after, obstacle } = setValue(text, root, path, value)
      if (obstacle !== undefined) return
      const inner = (before.mcpServers ?? {}) as Record<string, unknown>
      t.same(read(after).value, {
        ...before,
        mcpServers: { ...inner, causeway: JSON.parse(JSON.stringify(value)) },
      })
      t.same(commentsOf(after), commentsOf(text), 'every comment is there')
      const again = setValue(after, read(after), path, value)
      t.same(read(again.text ?? '').value, read(after).value)
    }),
  )
})

t.test('setValue: a new member stands like its neighbours, and nothing else moves', async (t) => {
  const set = (text: string, path: string[], value: unknown) => setValue(text, read(text), path, value)
  t.equal(set('{}', ['a', 'b'], 1).text, '{\n  "a": {\n    "b": 1\n  }\n}')
  const tabs = '{\r\n\t"a": {\r\n\t\t"b": 1 // one\r\n\t}\r\n}\r\n'
  t.equal(
    set(tabs, ['a', 'c'], [2]).text,
    '{\r\n\t"a": {\r\n\t\t"b": 1, // one\r\n\t\t"c": [\r\n\t\t\t2\r\n\t\t]\r\n\t}\r\n}\r\n',
  )
  t.equal(set('{\n    "a": 1,\n}', ['b'], 2).text, '{\n    "a": 1,\n    "b": 2,\n}')
  t.equal(set('{"a": {"b": 1}}', ['a', 'b'], 2).text, '{"a": {"b": 2}}')
  t.same(set('{"a": [1]}', ['a', 'b'], 2), { obstacle: { kind: 'not-an-object', path: ['a'] } })
  t.same(set('{"a": [/* why */ 1]}', ['a'], 2), { obstacle: { kind: 'comments', path: ['a'] } })
  t.same(set('[]', ['a'], 2), { obstacle: { kind: 'not-an-object', path: [] } })
})

t.test('valueAt: the last of a name counts', async (t) => {
  t.equal(valueAt(read('{"a": {"b": 1}, "a": {"b": 2}}'), ['a', 'b'])?.value, 2)
  t.equal(valueAt(read('{"a": 1}'), ['a', 'b', 'c']), undefined)
})
