import type { Manifest } from './manifests.ts'

const title = 'Causeway'
const homeUrl = 'http://localhost:3100/mcp'

/** The schema of the MCP registry that `registryEntry` conforms to. */
const registrySchema = 'https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json'

/** A name for the MCP registry. `namespace` is a reverse domain that the publisher owns, such as `io.github.<user>`. */
export const registryName = (namespace: string): string => `${namespace}/causeway`

/** Returns the `server.json` of the MCP registry. It describes the bridge, because registries list stdio programs. */
export const registryEntry = (bridge: Manifest, namespace: string): object => ({
  $schema: registrySchema,
  name: registryName(namespace),
  title,
  description: 'Ask your simulation what went wrong: the bridge to a Causeway server on this machine.',
  version: bridge.version,
  packages: [
    {
      registryType: 'npm',
      identifier: bridge.name,
      version: bridge.version,
      runtimeHint: 'npx',
      transport: { type: 'stdio' },
      environmentVariables: [
        {
          name: 'MCP_SERVER_URL',
          description: 'Address of the Causeway server',
          default: homeUrl,
          isRequired: false,
        },
      ],
    },
  ],
})

/** Returns the manifest of the MCP bundle (`.mcpb`) for Claude Desktop. It contains the bridge as `bridge.js`. */
export const bundleManifest = ({ version, license, engines, keywords = [] }: Manifest): object => ({
  manifest_version: '0.3',
  name: 'causeway',
  display_name: title,
  version,
  description: 'Ask your simulation what went wrong.',
  long_description:
    'Connects to the Causeway server on this machine. Start the server first; the bundle does not contain it.',
  author: { name: 'Causeway contributors' },
  license,
  keywords,
  server: {
    type: 'node',
    entry_point: 'bridge.js',
    mcp_config: {
      command: 'node',
      args: [`$\{__dirname}/bridge.js`],
      env: { MCP_SERVER_URL: `$\{user_config.server_url}` },
    },
  },
  tools_generated: true,
  compatibility: { platforms: ['darwin', 'linux', 'win32'], runtimes: { node: engines.node } },
  user_config: {
    server_url: {
      type: 'string',
      title: 'Server address',
      description: 'Address of the Causeway server',
      default: homeUrl,
      required: false,
    },
  },
})

/** Returns the text files of the Claude Code plugin by path. The bridge is next to them as `bridge.js`. */
export function pluginFiles({ version, license, keywords = [] }: Manifest): ReadonlyMap<string, string> {
  const plugin = {
    name: 'causeway',
    version,
    description: 'Ask your simulation what went wrong: tools for physics recordings and more.',
    author: { name: 'Causeway contributors' },
    license,
    keywords,
  }
  const servers = {
    mcpServers: {
      causeway: { type: 'stdio', command: 'node', args: [`$\{CLAUDE_PLUGIN_ROOT}/bridge.js`] },
    },
  }
  const json = (value: object): string => `${JSON.stringify(value, null, 2)}\n`
  return new Map([
    ['.claude-plugin/plugin.json', json(plugin)],
    ['.mcp.json', json(servers)],
    ['README.md', readme],
    ['skills/diagnose-simulation/SKILL.md', skill],
  ])
}

const readme = `# Causeway for Claude Code

Ask your simulation what went wrong. This plugin connects Claude Code to the Causeway server on this machine, and adds a skill that finds
the cause of a fault in a recorded physics simulation.

Start the server first: the plugin does not contain it. It connects to ${homeUrl}; to use another address, set
MCP_SERVER_URL in the environment of Claude Code. The plugin needs Node 20.18 or newer on PATH, and reaches no other host.
`

const skill = `---
name: diagnose-simulation
description: Find out why a recorded physics simulation misbehaves. Use when bodies jump, sink, jitter or explode, or when energy appears or vanishes.
---

1. Call \`Replay__list_recordings\` and choose the recording that the user means.
2. Call \`Replay__diagnose\` with it. Findings are ranked; the first one is usually the cause of those that follow it.
3. Follow the \`evidence_calls\` of the first finding, for example \`Replay__explain_frame\` at its first frame.
4. Call \`Replay__plot\` with a series that shows the finding, and report the frame, the body, the law and the measured value.
5. After the user has changed the simulation, call \`Replay__compare_recordings\` with the old and the new recording.

If the tools are missing, the Causeway server does not run: ask the user to start it.
`
