/** The table that `causeway tools` prints: the same rows as `docs/tools.md`. */
import type { App } from '@causeway/app-kit'
import { wireName } from '@causeway/protocol'
import { apps } from './apps.ts'
import { causewayApp } from './causeway/index.ts'

/** Every built-in app, the server's own first; the own tools are declared only, not callable. */
export const builtInApps = (): readonly App[] => [
  causewayApp(() => {
    throw new Error('declared for documentation only')
  }),
  ...apps,
]

/** One line a tool: wire name, then what it answers. */
export function printTools(): string {
  const rows = builtInApps().flatMap((app) =>
    app.tools.map((tool) => [wireName(app.name, tool.name), tool.about] as const),
  )
  const width = Math.max(...rows.map(([name]) => name.length))
  return rows.map(([name, about]) => `${name.padEnd(width)}  ${about}`).join('\n')
}
