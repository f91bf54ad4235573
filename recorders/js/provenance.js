/** Finds where a run comes from. */

/** Variables of each member, in order of preference. */
const variables = {
  commit: ['CAUSEWAY_COMMIT', 'GITHUB_SHA', 'CI_COMMIT_SHA'],
  branch: ['CAUSEWAY_BRANCH', 'GITHUB_HEAD_REF', 'GITHUB_REF_NAME', 'CI_COMMIT_REF_NAME'],
  scenario: ['CAUSEWAY_SCENARIO'],
  host: ['CAUSEWAY_HOST'],
  engine_version: ['CAUSEWAY_ENGINE_VERSION'],
}

/**
 * Returns commit, branch, scenario, seed, tags, host and engine version, as far as they are known: from variables of the
 * environment, or else commit and branch from git in the working directory, and the host from the system. Tags are separated by
 * commas; a seed that is not a whole number from 0 is ignored. Empty in a browser.
 */
export function findProvenance() {
  const { process } = globalThis
  if (process?.getBuiltinModule === undefined) return {}
  const found = {}
  for (const [member, names] of Object.entries(variables)) {
    const value = names.map((name) => process.env[name]?.trim()).find((text) => text)
    if (value !== undefined) found[member] = value.slice(0, 200)
  }
  if (found.commit === undefined) Object.assign(found, askGit(process, found))
  if (found.host === undefined) found.host = process.getBuiltinModule('node:os').hostname()
  const { CAUSEWAY_TAGS = '', CAUSEWAY_SEED = '' } = process.env
  const tags = CAUSEWAY_TAGS.split(',')
    .map((tag) => tag.trim())
    .filter(Boolean)
  if (tags.length > 0) found.tags = tags
  const seed = /^\s*\d+\s*$/.test(CAUSEWAY_SEED) ? Number(CAUSEWAY_SEED) : Number.NaN
  if (Number.isSafeInteger(seed)) found.seed = seed
  return found
}

function askGit(process, { branch }) {
  const { spawnSync } = process.getBuiltinModule('node:child_process')
  const options = { encoding: 'utf8', timeout: 2000, stdio: ['ignore', 'pipe', 'ignore'] }
  const { status, stdout } = spawnSync('git', ['rev-parse', 'HEAD', '--abbrev-ref', 'HEAD'], options)
  if (status !== 0) return {}
  const [commit, name] = stdout.trim().split('\n')
  // A detached head has no branch.
  return branch === undefined && name !== 'HEAD' ? { commit, branch: name } : { commit }
}
