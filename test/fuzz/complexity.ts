/** Every request whose cost is measured by `measure-attack.ts`. */
import { appAttacks } from './app-attacks.ts'
import {
  type Attack,
  attackBytes,
  list,
  maxAnswerBytes,
  members,
  nested,
  repeated,
  textMember,
} from './attack.ts'
import { limitAttacks } from './limit-attacks.ts'

const frame = 'Replay__get_frame'
/** Maximum number of URIs in one `subscriptions/listen`. */
const maxUris = 10_000
const everyTransport = ['json', 'session', 'stateless', 'events'] as const
const message = (params: string): string =>
  `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":${params}}`

/** Attacks on the arguments of tools, which are validated before the tool's handler runs. */
const argumentAttacks: readonly Attack[] = [
  ...([...everyTransport, 'rest'] as const).map((over) => ({
    name: `unknown arguments (${over})`,
    target: { tool: frame, over },
    make: members,
  })),
  {
    name: 'unknown arguments that resemble a known one',
    target: { tool: frame },
    make: (bytes) =>
      `{${Array.from({ length: Math.floor(bytes / 18) }, (_, index) => `"frame_i${index}":1`).join(',')}}`,
  },
  {
    name: 'unknown arguments of 1,000 characters',
    target: { tool: frame },
    make: (bytes) =>
      `{${Array.from({ length: Math.floor(bytes / 1000) }, (_, index) => `"${String(index).padStart(994, 'frame_id')}":1`).join(',')}}`,
  },
  {
    name: 'one long unknown argument',
    target: { tool: frame },
    make: (bytes) => `{"${'k'.repeat(bytes)}":1}`,
  },
  {
    name: 'an argument of the wrong type, nested arrays',
    target: { tool: frame },
    make: (bytes) => `{"frame_id":${nested('[', ']', bytes)}}`,
  },
  {
    name: 'an argument of the wrong type, nested objects',
    target: { tool: frame, over: 'stateless' },
    make: (bytes) => `{"frame_id":${nested('{"a":', '}', bytes)}}`,
  },
  {
    name: 'a list argument with wrong items',
    target: { tool: 'Debrief__delete_features' },
    make: (bytes) => `{"ids":${list('1', bytes)}}`,
    bytes: 3_500_000,
  },
  {
    name: 'a list argument with empty objects',
    target: { tool: 'Debrief__add_features' },
    make: (bytes) => `{"features":${list('{}', bytes)}}`,
  },
  {
    name: 'an object argument with unknown members',
    target: { tool: 'Debrief__set_viewport' },
    make: (bytes) => `{"bounds":${members(bytes)}}`,
  },
  {
    name: 'members with the name __proto__',
    target: { tool: frame },
    make: (bytes) => `{"frame_id":${list('{"__proto__":1}', bytes)}}`,
  },
  {
    name: 'a long unknown tool',
    target: { method: 'tools/call' },
    make: (bytes) => `{"name":"Replay__get_fram${'e'.repeat(bytes)}"}`,
  },
]

/** Attacks on the envelope of MCP messages. */
const envelopeAttacks: readonly Attack[] = [
  { name: 'nested arrays', target: { post: '/mcp' }, make: (bytes) => nested('[', ']', bytes) },
  { name: 'nested objects', target: { post: '/mcp' }, make: (bytes) => nested('{"a":', '}', bytes) },
  { name: 'unclosed arrays', target: { post: '/mcp' }, make: (bytes) => '['.repeat(bytes) },
  { name: 'a batch of empty objects', target: { post: '/mcp' }, make: (bytes) => list('{}', bytes) },
  { name: 'a batch of empty arrays', target: { post: '/mcp' }, make: (bytes) => list('[]', bytes) },
  {
    name: 'a batch of pings',
    target: { post: '/mcp' },
    make: (bytes) => list('{"jsonrpc":"2.0","id":1,"method":"ping"}', bytes),
  },
  {
    name: 'a batch of 100 calls with unknown arguments',
    target: { post: '/mcp' },
    make: (bytes) =>
      `[${Array.from({ length: 100 }, () => message(`{"name":"${frame}","arguments":${members(bytes / 100)}}`)).join(',')}]`,
    maxAnswerBytes: 100 * maxAnswerBytes,
  },
  {
    name: 'unknown members of a message',
    target: { post: '/mcp' },
    make: (bytes) => `{"jsonrpc":"2.0","id":1,"method":"ping",${members(bytes).slice(1)}`,
  },
  ...everyTransport.flatMap((over): readonly Attack[] => [
    {
      name: `unknown params (${over})`,
      target: { method: 'tools/list', over },
      make: members,
      maxAnswerBytes: 2 ** 20,
    },
    {
      name: `members of _meta (${over})`,
      target: { method: 'tools/call', over },
      make: (bytes) => `{"name":"Causeway__list_backups","_meta":${members(bytes)}}`,
    },
    {
      name: `a long method (${over})`,
      target: { method: 'x', over },
      make: (bytes) => `{"name":"${'x'.repeat(bytes)}"}`,
    },
    {
      name: `a long cursor (${over})`,
      target: { method: 'resources/list', over },
      make: (bytes) => `{"cursor":"${'A'.repeat(bytes)}"}`,
    },
    {
      name: `a long resource URI (${over})`,
      target: { method: 'resources/read', over },
      make: (bytes) => `{"uri":"replay://recordings/${repeated('%41', bytes)}/metadata/x"}`,
    },
  ]),
  {
    name: 'a resource URI with many slashes',
    target: { method: 'resources/read' },
    make: (bytes) => `{"uri":"replay://${'/'.repeat(bytes)}"}`,
  },
  {
    name: 'unknown arguments of a prompt',
    target: { method: 'prompts/get' },
    make: (bytes) => `{"name":"Replay__debug_recording","arguments":${members(bytes)}}`,
  },
  {
    name: 'a long value to complete',
    target: { method: 'completion/complete' },
    make: (bytes) =>
      `{"ref":{"type":"ref/prompt","name":"Replay__debug_recording"},"argument":{"name":"recording","value":"${'x'.repeat(bytes)}"}}`,
  },
  {
    name: 'a long log level in a session',
    target: { method: 'logging/setLevel', over: 'session' },
    make: (bytes) => `{"level":"${'x'.repeat(bytes)}"}`,
  },
  {
    name: 'wrong resource subscriptions of a stateless client',
    target: { method: 'subscriptions/listen', over: 'stateless' },
    make: (bytes) => `{"notifications":{"resourceSubscriptions":${list('1', bytes)}}}`,
  },
  {
    name: 'the maximum of resource subscriptions of a stateless client',
    target: { method: 'subscriptions/listen', over: 'stateless' },
    make: (bytes) => {
      const end = 'x'.repeat(Math.max(0, Math.floor(bytes / maxUris) - 60))
      const uris = Array.from(
        { length: maxUris },
        (_, index) => `"replay://recordings/r${index}/metadata/${end}"`,
      )
      return `{"notifications":{"resourceSubscriptions":[${uris.join(',')}]}}`
    },
    // The answer repeats the subscriptions.
    maxAnswerBytes: 2 * attackBytes,
  },
  {
    name: 'a long progress token in a session',
    target: { method: 'tools/call', over: 'session' },
    make: (bytes) => `{"name":"Causeway__list_backups","_meta":{"progressToken":"${'x'.repeat(bytes)}"}}`,
  },
  {
    name: 'wrong replies to questions of a stateless call',
    target: { method: 'tools/call', over: 'stateless' },
    make: (bytes) =>
      `{"name":"Causeway__list_backups","arguments":{},"inputResponses":{"a":{"role":"assistant","model":"m","content":${list('{}', bytes)}}}}`,
  },
  {
    name: 'a wrong reply to a question of a session',
    target: { post: '/mcp', headers: { accept: 'application/json, text/event-stream' } },
    make: (bytes) => `{"jsonrpc":"2.0","id":1,"result":{"content":${list('{}', bytes)}}}`,
  },
  {
    name: 'icons in a handshake',
    target: { post: '/mcp', headers: { accept: 'application/json, text/event-stream' } },
    make: (bytes) =>
      `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"a","version":"1","icons":${list('1', bytes)}}}}`,
  },
  {
    name: 'a long id',
    target: { post: '/mcp' },
    make: (bytes) => `{"jsonrpc":"2.0","id":"${'x'.repeat(bytes)}","method":"ping"}`,
    maxAnswerBytes: 2 * attackBytes,
  },
  {
    name: 'members of the capabilities in a handshake',
    target: { method: 'initialize' },
    make: (bytes) =>
      `{"protocolVersion":"2025-11-25","clientInfo":{"name":"a","version":"1"},"capabilities":${members(bytes)}}`,
  },
]

/** Attacks on routes and sockets of the apps. */
const routeAttacks: readonly Attack[] = [
  {
    name: 'a nested frame of a WebSocket',
    target: { socket: '/api/apps/debrief/' },
    make: (bytes) => nested('[', ']', bytes),
  },
  {
    name: 'unknown members of a command on a WebSocket',
    target: { socket: '/api/apps/debrief/' },
    make: members,
  },
  {
    name: 'a nested command of a route',
    target: { post: '/api/apps/debrief/api/command' },
    make: (bytes) => nested('[', ']', bytes),
  },
  {
    name: 'unknown members of a call of a route',
    target: { post: '/api/apps/toolvault/tools/call' },
    make: members,
  },
  {
    name: 'a nested line of a recorder',
    target: { post: '/api/apps/replay/recordings/nested/frames', type: 'application/x-ndjson' },
    make: (bytes) => nested('[', ']', bytes),
  },
  {
    name: 'a long line of a recorder',
    target: { post: '/api/apps/replay/recordings/long/frames', type: 'application/x-ndjson' },
    make: members,
  },
  {
    name: 'empty lines of a recorder',
    target: { post: '/api/apps/replay/recordings/empty/frames', type: 'application/x-ndjson' },
    make: (bytes) => repeated('\n', bytes),
  },
  {
    name: 'wrong lines of a recorder',
    target: { post: '/api/apps/replay/recordings/wrong/frames', type: 'application/x-ndjson' },
    make: (bytes) => repeated('{}\n', bytes),
  },
]

const review = (line: string, path = 'a.js'): Attack => ({
  name: `a review of ${JSON.stringify(line)}`,
  target: { tool: 'Trm__review' },
  make: (bytes) =>
    JSON.stringify({ files: [{ path, content: line.repeat(Math.floor(bytes / line.length)) }] }),
  bytes: 2 ** 20,
})

/** Attacks on the parsers of the apps. */
const parserAttacks: readonly Attack[] = [
  review('catch ('),
  review('def f(', 'a.py'),
  review("\\'"),
  review('TODO\n'),
  {
    name: 'a GPX document of open tags',
    target: { tool: 'ToolVault__import_gpx' },
    make: textMember('text', '<a>'),
    bytes: 3 * 2 ** 20,
  },
  {
    name: 'a GPX document of empty elements',
    target: { tool: 'ToolVault__import_gpx' },
    make: textMember('text', '<a/>', ['<gpx>', '</gpx>']),
    bytes: 3 * 2 ** 20,
  },
  {
    name: 'a KML document with blanks between coordinates',
    target: { tool: 'ToolVault__import_kml' },
    make: textMember('text', ' ', [
      '<kml><Placemark><LineString><coordinates>1,2',
      '3,4</coordinates></LineString></Placemark></kml>',
    ]),
    bytes: 2 ** 20,
  },
]

/** Every attack. */
export const attacks: readonly Attack[] = [
  ...argumentAttacks,
  ...envelopeAttacks,
  ...routeAttacks,
  ...parserAttacks,
  ...appAttacks,
  ...limitAttacks,
]
