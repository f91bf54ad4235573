import { readFileSync } from 'node:fs'
import type { Sample, VaultTool } from './vault-tool.ts'

export const readSamples = ({ name }: VaultTool): readonly [Sample, ...Sample[]] =>
  JSON.parse(
    readFileSync(new URL(`../../samples/${name.replaceAll('_', '-')}.json`, import.meta.url), 'utf8'),
  )
