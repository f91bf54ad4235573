import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { tool, type Work } from './work.ts'

const text = (value: number): string => `VALUE = ${value}\n`

/** Writes the next number to a file in each step. */
export function trmWork(root: string): Work<{ readonly sid: string; readonly value: number }> {
  const folder = join(root, 'projects', 'numbers')
  const file = join(folder, 'value.py')
  let [sid, value] = ['', 0]
  return {
    name: 'trm',
    env: { CAUSEWAY_TRM_ROOTS: join(root, 'projects') },
    async begin({ url }) {
      mkdirSync(folder, { recursive: true })
      writeFileSync(file, text(0))
      const start = { repo: 'numbers', test: 'cat value.py', halt: { max: 200 }, preflight: false }
      sid = (await tool(url, ['trm', 'start'], start)).sessionId
    },
    async step({ url }) {
      const edits = [{ type: 'replace', oldText: text(value), newText: text(value + 1) }]
      const candidate = { mode: 'modify', changes: [{ file: 'value.py', edits }] }
      await tool(
        url,
        ['trm', 'submit'],
        { sid, candidate, force: true, wait: 60 },
        { request: `to-${value + 1}` },
      )
      value += 1
    },
    promised: () => ({ sid, value }),
    async check(t, { url, dir }, promised, surroundings) {
      const state = await tool(url, ['trm', 'state'], { sid: promised.sid })
      t.equal(state.running, null, 'an interrupted step is not running')
      t.ok(state.step >= promised.value, `step ${promised.value} was acknowledged, ${state.step} is stored`)
      const workspaces = join(dir, 'trm/work')
      t.same(existsSync(workspaces) ? readdirSync(workspaces) : [], [])
      if (surroundings === 'later') return
      value = state.step
      t.equal(readFileSync(file, 'utf8'), text(value), 'the file is that of the last step')
    },
  }
}
