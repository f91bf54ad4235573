/**
 * Questions of a new user about Causeway over all sources that are indexed by default, which include Fastify and undici. Written
 * before any search and never reworded.
 */
import type { HelpQuestion, QuestionSet } from './questions.ts'

const ask = (text: string, ...pages: readonly string[]): HelpQuestion => ({
  text,
  pages: pages.map((page) => `causeway/${page}.md`),
})

const app = (name: string): string => `packages/app-${name}/README`

const questions: readonly HelpQuestion[] = [
  ask('how do I add a folder of recordings', 'README', app('replay'), 'docs/settings', 'docs/cli'),
  ask('connect Claude Code to the server', 'README', 'docs/cli', 'server/README', 'bridge/README'),
  ask('use it from VS Code with Copilot', 'README', 'docs/cli', 'server/README'),
  ask('the port 3100 is already in use', 'README', 'docs/errors', 'docs/settings'),
  ask('where does causeway keep its files', 'README', 'docs/settings', 'docs/architecture', 'server/README'),
  ask('How do I back up everything and restore it later?', 'docs/cli', 'README', 'docs/architecture'),
  ask('require a password or token from callers', 'docs/security', 'docs/settings'),
  ask(
    'search my own project documentation with it',
    app('help'),
    'docs/settings',
    'examples/ask-the-docs/README',
  ),
  ask('Claude says there are no tools, what now?', 'README', 'docs/cli', 'bridge/README'),
  ask('write my own app', 'README', 'examples/hello-app/README', 'docs/settings'),
  ask(
    'record a simulation from Python',
    'examples/record-python/README',
    'docs/recording-frames',
    'examples/README',
  ),
  ask(
    'how do I record a run from a game engine over HTTP',
    'docs/recording-frames',
    'examples/record-curl/README',
    'packages/recording/README',
    app('replay'),
  ),
  ask(
    'why did my box start sliding although nothing pushed it',
    'examples/find-the-slide/README',
    'examples/replay-story/README',
    'README',
    'examples/README',
  ),
  ask(
    'give a game character a memory and let it decide what to do',
    app('minds'),
    'examples/minds-godot/README',
  ),
  ask('which language model does a mind use and how do I set its key', app('minds'), 'docs/settings'),
  ask(
    'closest point of approach of two ships',
    app('toolvault'),
    'docs/tools',
    'README',
    'examples/close-quarters/README',
    app('debrief'),
  ),
  ask('undo a change in a plot', app('debrief'), 'docs/tools', 'examples/debrief-python/README', 'README'),
  ask(
    'may trm damage my files, and can I take a step back',
    app('trm'),
    'docs/security',
    'examples/refine-sales/README',
  ),
  ask('how is a candidate scored', app('trm'), 'docs/tools'),
  ask('what does OUTSIDE_ROOTS mean', 'docs/errors', 'README'),
  ask(
    'see what every client called, an audit log',
    'docs/architecture',
    'docs/tools',
    'docs/security',
    'docs/settings',
  ),
  ask(
    'how many calls per second may one client make',
    'docs/settings',
    'docs/errors',
    'docs/architecture',
    'docs/security',
  ),
  ask('start the server when I log in', 'docs/cli', 'README', 'server/README'),
  ask('install it without cloning the repository', 'README', 'server/README'),
  ask('which environment variables does the bridge read', 'docs/settings', 'bridge/README', 'README'),
  ask(
    'the bridge cannot reach the server, how do I find out why',
    'bridge/README',
    'README',
    'docs/cli',
    'docs/errors',
  ),
  ask('use real embeddings from OpenAI instead of the offline analysis', app('help'), 'docs/settings'),
  ask('keep internal pages away from customers', app('help'), 'docs/security', 'docs/settings'),
  ask('store the documentation index in postgres', app('help'), 'docs/settings'),
  ask('which Node version do I need', 'README', 'server/README', 'CONTRIBUTING', 'bridge/README'),
  ask('how fast is it compared to other bridges', 'docs/bench'),
  ask('run the tests and the linter', 'CONTRIBUTING'),
  ask('what is new in this version', 'CHANGELOG'),
  ask('more than one client uses the same recording at once', 'README', app('replay'), 'docs/architecture'),
  ask('limit which apps are served', 'README', 'docs/settings', 'docs/cli'),
  ask('prometheus metrics', 'docs/architecture', 'docs/settings', 'docs/security', 'README'),
]

/** The question set; `own` lists everything that is public and indexed by default. */
export const causewaySet: QuestionSet = { sources: ['own'], questions }

/** Questions about the guides and the reference. Written from the headings of the pages, before any search, and never reworded. */
const topics: readonly HelpQuestion[] = [
  ask('bring my existing mcp.json servers over', 'docs/gateway', 'docs/cli'),
  ask('log in to a remote server with OAuth', 'docs/gateway', 'docs/bridge', 'docs/cli'),
  ask('what happens when the connection breaks in the middle of a call', 'docs/bridge'),
  ask('import a CSV file of positions', 'docs/import'),
  ask('open a ROS bag', 'docs/import'),
  ask('record a MuJoCo robot', 'docs/robot', 'examples/record-mujoco/README'),
  ask('which commit made the simulation worse', 'docs/gallery', 'docs/many-runs'),
  ask('find out why a value became NaN', 'docs/gallery', 'docs/laws'),
  ask('run it in a docker container', 'docs/install'),
  ask('which operating systems are supported', 'docs/install', 'README'),
  ask('downgrade to the previous version', 'docs/upgrading'),
  ask('which physical laws are checked', 'docs/laws', 'docs/recordings', app('replay')),
  ask('how is penetration of two bodies judged', 'docs/laws', 'docs/recordings', app('replay'), 'docs/tools'),
  ask('what leaves my computer, is anything sent to the cloud', 'docs/security'),
  ask('which folders may an app read', 'docs/configure', 'docs/security', 'docs/settings'),
  ask('save and load a character with the game', 'docs/minds', app('minds')),
  ask('what does the game send to a character each turn', 'docs/minds', app('minds'), 'docs/tools'),
  ask('how expensive is the language model for characters', 'docs/minds', app('minds')),
  ask('watch what an assistant is doing in the browser', 'docs/console'),
  ask('two people edit the same plot', 'docs/console', app('debrief')),
  ask('show a chart or map inside the chat', 'docs/clients'),
  ask('connect Cursor', 'docs/clients', 'README'),
  ask('speed and memory compared with other gateways', 'docs/bench', 'docs/gateway'),
  ask('what was tested against crashes and kills', 'docs/reliability'),
  ask(
    'format of the recording file written by the recorder',
    'docs/recorders',
    'docs/recording-frames',
    'docs/recordings',
  ),
  ask(
    'send frames in batches with HTTP',
    'docs/recording-frames',
    'examples/record-curl/README',
    app('replay'),
  ),
  ask('how does a request travel through the code', 'docs/architecture'),
  ask(
    'which protocol versions are spoken to old and new clients',
    'docs/architecture',
    'docs/bridge',
    'README',
  ),
  ask('the tests of my project must not be changed by the assistant', app('trm'), 'docs/security'),
  ask('how is a change scored', app('trm'), 'docs/tools'),
  ask('list of all error codes', 'docs/errors'),
  ask('an error says the port is taken', 'docs/troubleshooting', 'docs/errors'),
  ask('ask which of many nightly runs failed', 'docs/many-runs'),
  ask(
    'use parquet and clickhouse for frames',
    'docs/many-runs',
    'docs/settings',
    'packages/recording/README',
  ),
  ask('view logs of a hosted server', 'docs/cli', 'docs/gateway'),
  ask('how are search results ranked', app('help')),
]

/** The second set, over the same sources. */
export const topicSet: QuestionSet = { sources: ['own'], questions: topics }
