import { createTwoFilesPatch } from 'diff'
import t from 'tap'
import { verifies } from '../../../../test/verifies.ts'
import { applyCandidate, listSources } from '../../src/domain/candidate/apply.ts'
import { normalizePath } from '../../src/domain/candidate/path.ts'
import { readCandidate } from '../../src/domain/candidate/read-candidate.ts'
import type { Candidate, FileContent } from '../../src/domain/candidate/types.ts'
import { after, applied } from './candidate/apply-kit.ts'

verifies('trm:candidate:format', 'a change produces the same bytes in four modes', async (t) => {
  for (const [end, last] of [
    ['\n', '\n'],
    ['\r\n', '\r\n'],
    ['\n', ''],
    ['\r\n', ''],
  ] as const) {
    const before = `one${end}two${end}three${last}`
    const now = `one${end}2${end}three${last}`
    const patch = createTwoFilesPatch('a/f.txt', 'b/f.txt', before, now)
    const candidates: Candidate[] = [
      { mode: 'files', files: [{ path: 'f.txt', content: now }] },
      { mode: 'diff', changes: [{ path: 'f.txt', diff: patch }] },
      { mode: 'patch', patch },
      {
        mode: 'modify',
        changes: [{ path: 'f.txt', edits: [{ type: 'replaceLine', line: 2, content: '2' }] }],
      },
      {
        mode: 'modify',
        changes: [{ path: 'f.txt', edits: [{ type: 'replace', oldText: 'two', newText: '2' }] }],
      },
    ]
    for (const candidate of candidates)
      t.same(after({ 'f.txt': before }, candidate), { 'f.txt': now }, candidate.mode)
  }
  t.same(after({}, { mode: 'create', files: [{ path: 'f.txt', content: 'x' }] }), { 'f.txt': 'x' })
})

t.test('a candidate with one rejected part is rejected as a whole', async (t) => {
  const files = new Map<string, FileContent | undefined>([
    ['a.txt', 'a\n'],
    ['b.txt', 'b\n'],
  ])
  const candidate: Candidate = {
    mode: 'modify',
    changes: [
      { path: 'a.txt', edits: [{ type: 'deleteLine', line: 1 }] },
      { path: 'b.txt', edits: [{ type: 'deleteLine', line: 2 }] },
    ],
  }
  t.throws(() => applyCandidate(files, candidate), { code: 'INVALID_LINE', data: { path: 'b.txt' } })
  t.same(
    [...files],
    [
      ['a.txt', 'a\n'],
      ['b.txt', 'b\n'],
    ],
  )
})

t.test('repeated and nested paths, no files, and too many or too large files are rejected', async (t) => {
  const file = (path: string) => ({ path, content: 'x' })
  t.throws(() => applied({}, { mode: 'files', files: [file('a.txt'), file('./a.txt')] }), {
    code: 'DUPLICATE_PATH',
  })
  t.throws(() => applied({}, { mode: 'files', files: [file('a'), file('a/b')] }), { code: 'INVALID_PATH' })
  t.throws(() => applied({}, { mode: 'files', files: [] }), { code: 'INVALID_CANDIDATE' })
  const many = Array.from({ length: 101 }, (_, index) => file(`${index}.txt`))
  t.throws(() => applied({}, { mode: 'files', files: many }), { code: 'FILE_TOO_LARGE' })
  t.throws(() => applied({}, { mode: 'files', files: [{ path: 'a', content: 'x'.repeat(10_000_001) }] }), {
    code: 'FILE_TOO_LARGE',
  })
  t.same(listSources({ mode: 'files', files: [file('b//c'), file('./a')] }).paths, ['a', 'b/c'])
})

verifies(
  'trm:candidate:refused',
  'invalid paths and paths out of the project or into .git are rejected',
  async (t) => {
    for (const path of [
      '',
      '.',
      '/etc/passwd',
      '../a',
      'a/../../b',
      'a\0b',
      'a\\b',
      'C:/a',
      'c:a',
      '~/a',
      'a/',
      'a\nb',
    ]) {
      t.throws(() => normalizePath(path), { code: 'INVALID_PATH' }, JSON.stringify(path))
    }
    for (const path of [
      '.git',
      '.git/config',
      'sub/.GIT/hooks/x',
      '.git /x',
      '.git./x',
      'git~1/x',
      '.g\u200cit/x',
      '.git::$DATA',
    ]) {
      t.throws(() => normalizePath(path), { code: 'INVALID_PATH' }, JSON.stringify(path))
    }
    t.throws(() => normalizePath('a'.repeat(1025)), { code: 'INVALID_PATH' })
    t.same(['./a//b.py', '.gitignore', 'git/x', 'ü b.txt', '...'].map(normalizePath), [
      'a/b.py',
      '.gitignore',
      'git/x',
      'ü b.txt',
      '...',
    ])
  },
)

t.test('listSources returns the hashes in a candidate by normalized path', async (t) => {
  const sha = '0'.repeat(64)
  const files = [
    { path: './a.txt', content: 'x', sha },
    { path: 'b.txt', content: 'x' },
  ]
  t.same([...listSources({ mode: 'files', files }).shas], [['a.txt', sha]])
})

t.test('the mode `files` overwrites and deletes text and binary files', async (t) => {
  const image = Uint8Array.from([0])
  const files = { 'a.png': image, 'b.png': image, 'c.txt': 'c\n' }
  t.same(
    after(files, {
      mode: 'files',
      files: [
        { path: 'a.png', content: 'text' },
        { path: 'b.png', delete: true },
        { path: 'c.txt', content: '' },
      ],
    }),
    { 'a.png': 'text', 'b.png': null, 'c.txt': '' },
  )
  t.throws(() => applied(files, { mode: 'files', files: [{ path: 'x', delete: true }] }), {
    code: 'FILE_NOT_FOUND',
  })
  t.throws(() => applied(files, { mode: 'create', files: [{ path: 'c.txt', content: '' }] }), {
    code: 'FILE_EXISTS',
  })
  t.throws(
    () =>
      applied(files, {
        mode: 'modify',
        changes: [{ path: 'a.png', edits: [{ type: 'deleteLine', line: 1 }] }],
      }),
    {
      code: 'NOT_TEXT',
    },
  )
})

t.test('a candidate that changes nothing is applied with a warning', async (t) => {
  const { changes, warnings } = applied(
    { 'a.txt': 'a\n' },
    { mode: 'files', files: [{ path: 'a.txt', content: 'a\n' }] },
  )
  t.equal(changes.size, 0)
  t.match(warnings, [{ code: 'NO_CHANGES' }])
})

t.test('replacing a file with 100,000 characters causes a LARGE_FILE warning', async (t) => {
  const candidate: Candidate = { mode: 'files', files: [{ path: 'a.txt', content: 'x'.repeat(100_000) }] }
  t.match(applied({ 'a.txt': 'a' }, candidate).warnings, [{ code: 'LARGE_FILE', path: 'a.txt' }])
  t.same(applied({}, candidate).warnings, [], 'a new one can only be sent whole')
})

t.test('a candidate that makes a file invalid gets a warning with the line', async (t) => {
  const broken: [string, string, string, number][] = [
    ['a.py', 'x = 1\n', 'x = 1\ndef f(:\n    pass\n', 2],
    ['a.js', 'let a = 1\n', 'let a = 1\nlet b = 2 +\n', 3],
    ['a.json', '{}\n', '{"a": }\n', 1],
    ['a.toml', 'a = 1\n', 'a = 1\nb = \n', 2],
  ]
  for (const [path, before, now, line] of broken) {
    const candidate: Candidate = { mode: 'files', files: [{ path, content: now }] }
    t.match(
      applied({ [path]: before }, candidate).warnings,
      [{ code: 'SYNTAX', path, message: `line ${line} ` }],
      path,
    )
    t.same(
      applied({ [path]: now }, { mode: 'files', files: [{ path, content: `${now}\n` }] }).warnings,
      [],
      'as before',
    )
  }
  const fine: [string, string][] = [
    [
      'a.py',
      '\ufeffasync def f():\r\n    match x:\r\n        case [1, *_]:\r\n            return f"{x!r:>{3}}"\r\n',
    ],
    ['a.mjs', '#!/usr/bin/env node\nimport a from "a" with { type: "json" }\nawait a\n'],
    ['a.cjs', 'with (a) { b }\nreturn\n'],
  ]
  for (const [path, content] of fine) {
    t.same(applied({}, { mode: 'create', files: [{ path, content }] }).warnings, [], path)
  }
})

t.test('a candidate can use aliases and snake_case names for its members', async (t) => {
  const own = readCandidate({
    mode: 'modify',
    changes: [{ file: 'a.py', edits: [{ op: 'replace', old_text: 'a', new_text: 'b' }] }],
  })
  t.same(own, {
    mode: 'modify',
    changes: [{ path: 'a.py', edits: [{ type: 'replace', oldText: 'a', newText: 'b' }] }],
  })
  t.match(
    readCandidate({
      mode: 'modify',
      changes: [{ path: 'a', edits: [{ type: 'deleteRange', start_line: 1, end_line: 2 }] }],
    }),
    {
      changes: [{ edits: [{ startLine: 1, endLine: 2 }] }],
    },
  )
})

t.test('the error about a malformed candidate names the malformed part', async (t) => {
  const problems = (input: unknown): unknown => {
    try {
      readCandidate(input)
      return undefined
    } catch (error) {
      const { code, data } = error as { code: string; data: { problems: unknown } }
      return { code, problems: data.problems }
    }
  }
  const code = 'INVALID_CANDIDATE'
  t.match(problems({ mode: 'modfy', changes: [] }), {
    code,
    problems: [{ argument: 'mode', did_you_mean: 'modify' }],
  })
  for (const input of [undefined, null, 'text', [], {}]) t.match(problems(input), { code })
  t.match(problems({ mode: 'patch', ptch: 'x', patch: '' }), {
    problems: [{ argument: 'ptch', did_you_mean: 'patch' }],
  })
  t.match(problems({ mode: 'files', files: [{ path: 'a' }] }), { problems: [{ argument: 'files.0' }] })
  t.match(problems({ mode: 'files', files: [{ path: 'a', content: 'x', delete: true }] }), { code })
  t.match(problems({ mode: 'modify', changes: [{ path: 'a', edits: [{ type: 'deleteLine' }] }] }), {
    problems: [{ argument: 'changes.0.edits.0.line' }],
  })
  t.match(problems({ mode: 'create', files: [{ path: 'a', content: '\ud800' }] }), {
    problems: [{ argument: 'files.0.content' }],
  })
  t.match(problems({ mode: 'files', files: [{ path: 'a', content: 'x', sha: 'short' }] }), {
    problems: [{ argument: 'files.0.sha' }],
  })
})
