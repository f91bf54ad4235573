/** Tests the pages of Minds and TRM in Chromium. */
import { cpSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { startServer } from '../e2e/server-process.ts'
import { verifies } from '../verifies.ts'
import { checkThemes, isSkipped, openBrowser, openPage, visit } from './browser.ts'

t.setTimeout(300_000)

const hostile = `<img src=x onerror=document.title="owned">\u202e${'long'.repeat(400)}`

/** Returns what a character observes at a time in game minutes. */
const createObservation = (minutes: number, hunger: number) => ({
  entity_id: 'npc_mara',
  current_simulation_time: minutes,
  status: { position: [12, 7], current_interaction: {} },
  needs: { needs: { hunger, energy: 71 }, max_value: 100 },
  vision: {
    visible_entities: [
      {
        entity_id: 'stove_2',
        display_name: 'Stove',
        position: [13, 7],
        interactions: { eat: { name: 'eat', needs_filled: ['hunger'], needs_drained: [] } },
      },
    ],
  },
})

const createSums = (mean: string) =>
  `def total(values):\n    return sum(values)\n\n\ndef mean(values):\n    return ${mean}\n`

if (isSkipped) t.test('the pages of Minds and TRM in Chromium', { skip: isSkipped }, async () => {})
else {
  const dir = t.testdir({ data: {}, projects: {} })
  cpSync(fileURLToPath(new URL('../../fixtures/projects/sums', import.meta.url)), `${dir}/projects/sums`, {
    recursive: true,
  })
  const browser = await openBrowser(t)
  const { url } = await startServer(t, {
    dir: `${dir}/data`,
    env: { CAUSEWAY_TRM_ROOTS: `${dir}/projects` },
  })

  const callTool = async (
    app: string,
    tool: string,
    args: object,
  ): Promise<Readonly<Record<string, unknown>>> => {
    const response = await fetch(`${url}/api/apps/${app}/tools/${tool}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(args),
    })
    const body = await response.text()
    if (!response.ok) throw new Error(`${tool}: ${body.slice(0, 300)}`)
    return JSON.parse(body) as Readonly<Record<string, unknown>>
  }

  await callTool('minds', 'create_mind', {
    mind_id: 'npc_mara',
    config: {
      entity_id: 'npc_mara',
      traits: ['curious'],
      initial_long_term_memories: ['Olin owns the mill.', 'The stove is in the kitchen.', hostile],
    },
  })
  for (const [minutes, hunger] of [
    [1930, 22],
    [2000, 90],
  ] as const)
    await callTool('minds', 'decide_action', {
      mind_id: 'npc_mara',
      observation: createObservation(minutes, hunger),
    })
  const { sessionId } = await callTool('trm', 'start', {
    repo: `${dir}/projects/sums`,
    test: 'python3 -m unittest',
    halt: { max: 8 },
  })
  for (const [mean, reason] of [
    ['total(values) - len(values)', hostile.slice(0, 400)],
    ['total(values) / len(values)', 'divide by the count'],
  ] as const)
    await callTool('trm', 'submit', {
      sid: sessionId,
      candidate: { mode: 'files', files: [{ path: 'sums.py', content: createSums(mean) }] },
      reason,
      wait: 60,
    })

  const pages: Readonly<Record<string, string>> = {
    minds: '/minds',
    mind: '/minds/npc_mara',
    trm: '/trm',
    'trm-session': `/trm/${sessionId}`,
  }

  verifies('console:pages:clean', 'the pages of Minds and TRM have no problems', async (t) => {
    const watched = await openPage(t, browser)
    const { page } = watched
    for (const [name, path] of Object.entries(pages)) {
      await page.goto('about:blank')
      await visit(watched, `${url}${path}`)
      await checkThemes(t, watched, name)
      t.equal(await page.locator('main img').count(), 0)
      t.equal(
        await page.evaluate('document.documentElement.scrollWidth <= innerWidth'),
        true,
        `${name}: nothing overflows`,
      )
    }
    await page.close()
  })

  verifies('console:minds', async (t) => {
    const watched = await openPage(t, browser)
    const { page } = watched
    await visit(watched, `${url}/minds`)
    await page.getByRole('link', { name: 'npc_mara' }).click()
    await page.getByRole('button', { name: /day 2, 08:10/ }).click()
    const decision = page.getByRole('region', { name: /interact_with stove_2 eat/ })
    const stored = await fetch(`${url}/api/apps/minds/minds/npc_mara/decisions?limit=2`)
    const { decisions } = (await stored.json()) as {
      decisions: readonly { explanation: { candidates: readonly { readonly score: number }[] } }[]
    }
    for (const { score } of decisions[1]?.explanation.candidates ?? [])
      t.match(await decision.innerText(), String(Number(score.toPrecision(4))))
    t.match(await decision.innerText(), /Asked its memory for:[\s\S]*action selection [\d.]+ ms/)
    const needs = page.getByRole('region', { name: 'Needs and mood' })
    t.match(await needs.innerText(), /hunger\s+90 %[\s\S]*22 % to 90 %[\s\S]*energy\s+71 %/)
    t.equal(await needs.getByRole('img', { name: 'satisfied to 90 %' }).count(), 1)
    const places = page.getByRole('region', { name: 'Known places' })
    t.match(await places.getByRole('row', { name: /Stove/ }).innerText(), /13, 7\s+eat/)
    await places.getByRole('img', { name: /Map of 1 known place/ }).waitFor()
    t.equal(await places.locator('svg .town-goal').count(), 1, 'a line leads to the goal of the decision')
    await page.getByLabel('Ask what the mind remembers').fill('Who owns the mill?')
    await page.keyboard.press('Enter')
    await page.getByText('recalled, best first').waitFor()
    t.match(await page.locator('tbody tr').filter({ hasText: 'Olin' }).innerText(), /Olin owns the mill/)
    t.same(watched.problems, [])
  })

  verifies(
    'console:minds',
    'keys select a mind, counts match those of the tool, and a deleted mind remains visible',
    async (t) => {
      for (const mind_id of ['npc_olin', 'npc_tess'])
        await callTool('minds', 'create_mind', {
          mind_id,
          config: { entity_id: mind_id, traits: ['kind'], initial_long_term_memories: ['Mara cooks.'] },
        })
      const watched = await openPage(t, browser)
      const { page } = watched
      await visit(watched, `${url}/minds`)
      const { minds } = (await callTool('minds', 'list_minds', {})) as unknown as {
        minds: readonly { mind_id: string; long_term_memory_count: number; daily_memories_count: number }[]
      }
      for (const { mind_id, long_term_memory_count, daily_memories_count } of minds)
        t.match(
          await page.getByRole('row', { name: new RegExp(`^${mind_id}`) }).innerText(),
          new RegExp(`\\t${daily_memories_count}\\t${long_term_memory_count}$`),
        )
      await page.keyboard.press('j')
      await page.keyboard.press('j')
      await page.keyboard.press('j')
      await page.keyboard.press('k')
      t.equal(await page.evaluate('document.activeElement.textContent'), minds[1]?.mind_id)
      await page.keyboard.press('Enter')
      await page.waitForURL(`${url}/minds/npc_olin`)
      await page.getByRole('region', { name: 'Memories' }).getByText('Mara cooks.').waitFor()
      await callTool('minds', 'forget_mind', { mind_id: 'npc_olin' })
      await page.getByText('This mind was deleted. The page shows its last state.').waitFor()
      t.equal(await page.getByRole('alert').count(), 0)
      await page.getByText('Mara cooks.').waitFor()
      await page.reload()
      await page.getByText('This mind does not exist').waitFor()
      t.same(watched.problems, [])
    },
  )

  verifies('console:trm', 'a link opens an evaluation, whose signals sum to the score', async (t) => {
    const watched = await openPage(t, browser)
    const { page } = watched
    await visit(watched, `${url}/trm`)
    await page.getByRole('row', { name: /sums.*2 of 8\s+1$/ }).waitFor()
    await page.keyboard.press('Control+k')
    await page.locator('dialog[open] [role=combobox]:focus').waitFor()
    await page.keyboard.type('sums')
    await page.locator('dialog [aria-selected=true]', { hasText: `${sessionId}` }).waitFor()
    await page.keyboard.press('Enter')
    await page.waitForURL(`${url}/trm/${sessionId}`)
    await page.locator('dialog').waitFor({ state: 'detached' })
    await visit(watched, `${url}/trm/${sessionId}#evaluation=1`)
    await page.getByRole('region', { name: 'Step 1', exact: true }).waitFor()
    await page.keyboard.press(']')
    await page.getByRole('region', { name: 'Step 2', exact: true }).waitFor()
    await page.waitForURL(/#evaluation=2$/)
    await page.keyboard.press(']')
    await page.reload()
    await page.getByRole('region', { name: 'Step 2', exact: true }).waitFor()
    const table = page.getByRole('table', { name: 'The score as the sum of its signals' })
    const cells = await table.locator('tr td:nth-child(4)').allInnerTexts()
    const numbers = cells.map(Number)
    const sum = numbers.slice(0, -1).reduce((total, value) => total + value, 0)
    t.ok(Math.abs(sum - (numbers.at(-1) as number)) < 1e-9, `${cells}`)
    const { bestScore, emaScore } = await callTool('trm', 'state', { sid: sessionId })
    const figures = await page.locator('.figures').innerText()
    t.match(figures, new RegExp(`Best score\\s+${bestScore}\\s`))
    t.match(figures, new RegExp(`Average\\s+${Number((emaScore as number).toPrecision(4))}\\s`))
    t.same(watched.problems, [])
  })

  verifies('console:trm', 'a table shows which tests passed in each step', async (t) => {
    const watched = await openPage(t, browser)
    const { page } = watched
    await visit(watched, `${url}/trm/${sessionId}`)
    const table = page.getByRole('table', { name: 'Tests by evaluation' })
    const { tests, count } = (await (
      await fetch(`${url}/api/apps/trm/sessions/${sessionId}/tests`)
    ).json()) as { tests: { id: string; outcomes: string[] }[]; count: number }
    t.equal(tests.length, count)
    t.same(
      await table.getByRole('rowheader').allInnerTexts(),
      tests.map(({ id }) => id),
    )
    const [first] = tests
    t.same(first?.outcomes, ['fail', 'fail', 'pass'])
    const cells = await table.locator('tbody tr').first().locator('td').allInnerTexts()
    t.match(cells, [/✕\s*failed/, /✕\s*failed/, /✓\s*passed/])
    await table.getByRole('button', { name: 'Step 1' }).press('Enter')
    await page.getByRole('region', { name: 'Step 1', exact: true }).waitFor()
    await page.waitForURL(/#evaluation=1$/)
    t.same(watched.problems, [])
  })

  verifies('console:trm', async (t) => {
    const watched = await openPage(t, browser)
    const { page } = watched
    await visit(watched, `${url}/trm/${sessionId}`)
    const steps = page.getByRole('region', { name: 'Steps' })
    t.match(await steps.getByRole('button', { name: /Step 2/ }).innerText(), /best/)
    t.equal(await steps.getByText('best').count(), 1)
    const rows = await page.getByRole('table', { name: 'The score as the sum of its signals' }).innerText()
    t.match(rows, /Score/)
    const diff = page.getByRole('region', { name: 'Step 2', exact: true }).locator('.diff')
    t.match(await diff.innerText(), /\+\s+return total\(values\) \/ len\(values\)/)
    await page.getByRole('button', { name: 'Undo the last step' }).click()
    await page.getByRole('button', { name: /Undo step 2/ }).click()
    await steps.getByText('undone').waitFor()
    const state = await callTool('trm', 'state', { sid: sessionId })
    t.equal(state.step, 1)
    t.same(watched.problems, [])
  })
}
