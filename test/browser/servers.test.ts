/** Tests the page of hosted MCP servers in Chromium. */
import { writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { postMcp } from '../e2e/http.ts'
import { startServer } from '../e2e/server-process.ts'
import { verifies } from '../verifies.ts'
import { checkThemes, isSkipped, openBrowser, openPage, settled, visit } from './browser.ts'

t.setTimeout(300_000)

const program = fileURLToPath(new URL('../../packages/gateway/test/fixture-server.ts', import.meta.url))
const hostile = `<img src=x onerror=document.title="owned">\u202e${'long'.repeat(2500)}`
const description = `<img src onerror>\u202e${'long'.repeat(2500)}`

if (isSkipped) t.test('the page of hosted servers in Chromium', { skip: isSkipped }, async () => {})
else {
  const data = t.testdir()
  const host = (flags: readonly string[] = [], options: object = {}): object => ({
    command: process.execPath,
    args: [program, ...flags],
    causeway: { share: 'shared', ...options },
  })
  const mcpServers = {
    files: host(['--banner']),
    imported: host([], { needsApproval: true }),
    'broken one': host(['--exit']),
    [hostile]: { command: 'x' },
  }
  const writeServers = (servers: object): void =>
    writeFileSync(`${data}/mcp.json`, JSON.stringify({ mcpServers: servers }), { mode: 0o600 })
  writeServers(mcpServers)
  const browser = await openBrowser(t)
  const { url } = await startServer(t, { dir: data })
  const callEcho = () =>
    postMcp(url, 'tools/call', { name: 'echo', arguments: { text: 'x' } }, { path: '/mcp/files' })

  verifies('console:servers:page', async (t) => {
    await callEcho()
    const watched = await openPage(t, browser)
    const { page } = watched
    await visit(watched, `${url}/servers/files`)
    t.match(
      await page.getByRole('row', { name: /^files ready/ }).innerText(),
      process.platform === 'linux' ? /all\s+stdio\s+1\s+[\d.]+ MB\s+\d+\s+1\s+0/ : /all\s+stdio\s+1/,
    )
    t.match(await page.getByRole('row', { name: /^imported/ }).innerText(), /needs approval/)
    t.match(await page.getByRole('alert').innerText(), /the server "<img src=x onerror=/)
    await page.getByText('Log of the running processes').click()
    await page.getByText(/wrote nothing to stderr|fixture/).waitFor()
    await page.getByRole('link', { name: 'imported' }).click()
    await page.getByText('causeway mcp approve imported').waitFor()
    await page.getByRole('link', { name: 'broken one' }).click()
    await page.getByText('UPSTREAM_UNAVAILABLE').waitFor()
    t.equal(await page.locator('main img').count(), 0)
    t.notMatch(await page.content(), data, 'no folder of the machine')
    await visit(watched, `${url}/status`)
    await page.locator('[data-app="BrokenOne"]').getByText('UPSTREAM_UNAVAILABLE').waitFor()
    t.match(await page.locator('[data-app="BrokenOne"]').innerText(), /failed|waits to restart|down/)
    t.match(await page.locator('[data-app="Files"]').innerText(), /ready/)
    await visit(watched, url)
    t.match(await page.locator('a.card', { hasText: 'Imported' }).innerText(), /needs approval/)
    t.same(watched.problems, [])
  })

  verifies('console:servers:page', 'a changed definition is shown as a diff', async (t) => {
    writeServers({ ...mcpServers, files: host([`--describe=${description}`]) })
    const watched = await openPage(t, browser)
    const { page } = watched
    await visit(watched, `${url}/servers/files`)
    await page.locator('[data-changes] .diff').waitFor()
    await settled(page)
    const diff = page.locator('[data-changes] .diff')
    t.match(await diff.locator('.removed').innerText(), '- Returns the text.')
    t.match(await diff.locator('.added').innerText(), '+ <img src onerror>\\u{202e}long')
    t.equal(await page.getByRole('button', { name: /approve/i }).count(), 0)
    t.equal(await page.locator('main img').count(), 0)
    t.equal(await page.evaluate('document.documentElement.scrollWidth <= innerWidth'), true)
    await checkThemes(t, watched, 'servers')
    await page.close()
  })
}
