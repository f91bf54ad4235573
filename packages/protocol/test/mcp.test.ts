import t from 'tap'
import { claimedVersion, legacyVersions, meta, modernVersion, supportedVersions } from '../src/mcp.ts'

t.test('claimedVersion: what the message says of itself', async (t) => {
  t.equal(claimedVersion({ params: { _meta: { [meta.protocolVersion]: modernVersion } } }), modernVersion)
  for (const message of [null, 1, {}, { params: {} }, { params: { _meta: { [meta.protocolVersion]: 1 } } }])
    t.equal(claimedVersion(message), undefined)
})

t.test('supportedVersions: newest first', async (t) => {
  t.same(supportedVersions, [...supportedVersions].sort().reverse())
  t.same(supportedVersions, [modernVersion, ...legacyVersions])
})
