/**
 * Questions that were not used for tuning: about pages of Fastify and undici in other words than the first set, and about the
 * documentation of pino and date-fns. Written once from the headings of the pages, before any search, and never reworded.
 * Tuning on them makes them worthless.
 */
import { fastify, type HelpQuestion, type QuestionSet, undici } from './questions.ts'

const pino = (text: string, ...pages: readonly string[]): HelpQuestion => ({
  text,
  pages: pages.map((page) => (page === 'README' ? 'pkg:pino/README.md' : `pkg:pino/docs/${page}.md`)),
})

const dates = (text: string, ...pages: readonly string[]): HelpQuestion => ({
  text,
  pages: pages.map((page) => `pkg:date-fns/docs/${page}.md`),
})

const strangers: readonly HelpQuestion[] = [
  pino('write lines in the background so that the program is not held up', 'asynchronous', 'api'),
  pino('my last messages are missing after the process died', 'asynchronous', 'api'),
  pino('use it in a function that runs on demand in the cloud', 'asynchronous'),
  pino('add the same fields to everything that one module prints', 'child-loggers', 'api'),
  pino('the same property shows up twice in a line', 'child-loggers', 'help'),
  pino('what does it cost to make a logger for each request', 'child-loggers'),
  pino('keep credit card numbers out of what is written', 'redaction', 'api'),
  pino('may a path for censoring come from user input', 'redaction'),
  pino('start a new file every day and keep the old ones', 'help', 'transports'),
  pino('tell the program to open its file again after it was moved away', 'help'),
  pino('show the severity as a word instead of a figure', 'help', 'api'),
  pino('send errors to one place and the rest to another', 'help', 'transports', 'api'),
  pino('strange characters in the console on Windows', 'help'),
  pino('check in a unit test what was printed', 'help', 'ecosystem'),
  pino('colourful output that a human can read while developing', 'pretty', 'transports', 'README'),
  pino('put everything into one output file with webpack or esbuild', 'bundling'),
  pino('does it run in a web page as well', 'browser', 'README'),
  pino('post what happens on the client to my server', 'browser'),
  pino('watch how long turning an object into a line takes', 'diagnostics'),
  pino('how long will version 8 receive security fixes', 'lts'),
  pino('which other packages work together with it', 'ecosystem', 'transports'),
  pino('how fast is it compared with winston and bunyan', 'benchmarks', 'README'),
  pino('have a line for each incoming call with koa', 'web'),
  pino('process what was written in another thread', 'transports', 'asynchronous', 'README'),
  pino('make my own destination for records, in typescript', 'transports'),
  pino('define levels of my own', 'api'),
  pino('how deep are nested objects written before they are cut', 'api'),
  pino('change the name of the key that holds the text', 'api'),
  pino('formatters.bindings', 'api', 'browser'),
  pino('pino.final', 'asynchronous', 'api', 'help'),
  dates('why do capital Y and capital D give wrong results', 'unicodeTokens'),
  dates('calculate with hours of another place in the world', 'timeZones'),
  dates('print the name of the month in German', 'i18n'),
  dates('contribute a translation for a tongue that is not there yet', 'i18nContributionGuide', 'i18n'),
  dates('make my bundle smaller by leaving out tongues that nobody uses', 'webpack'),
  dates('load it with a script tag', 'cdn'),
  dates('chain functions that take their arguments in the opposite order', 'fp'),
  dates('install and first steps', 'gettingStarted'),
  dates('steps to publish a new version', 'release'),
  dates('TZDate', 'timeZones'),
]

const acquaintances: readonly HelpQuestion[] = [
  fastify('limit how long a client may take to send its whole message', 'Reference/Server'),
  fastify('treat /Foo and /foo as the same address', 'Reference/Server'),
  fastify(
    'a slash at the end of the address should make no difference',
    'Reference/Server',
    'Reference/Routes',
  ),
  fastify('show all addresses that my application answers to', 'Reference/Server'),
  fastify('is there something ready-made against too many calls from one visitor', 'Guides/Ecosystem'),
  fastify('rules for writing pages of this manual', 'Guides/Style-Guide'),
  fastify('lead the browser to another address', 'Reference/Reply'),
  fastify('how many milliseconds passed since the message came in', 'Reference/Reply'),
  fastify('add headers after the body was sent', 'Reference/Reply'),
  fastify('check some data against a schema by hand inside a handler', 'Reference/Request'),
  fastify('find out whether a property was already attached', 'Reference/Decorators'),
  fastify('be told of every path that is declared', 'Reference/Hooks'),
  fastify('alter what goes out just before it is sent', 'Reference/Hooks', 'Reference/Lifecycle'),
  fastify('readable console output for developers', 'Reference/Logging'),
  fastify('first tiny server', 'Guides/Getting-Started'),
  fastify('replace ajv with another library', 'Reference/Validation-and-Serialization', 'Reference/Server'),
  fastify('what values guide those who build the framework', 'Reference/Principles'),
  fastify('upgrade from the second to the third major', 'Guides/Migration-Guide-V3'),
  fastify(
    'run several processes on one machine with many cores',
    'Guides/Recommendations',
    'Guides/Serverless',
  ),
  fastify(
    'choose between listening on every interface and on this computer only',
    'Reference/Server',
    'Guides/Getting-Started',
  ),
  undici('I do not need what was sent back, throw it away', 'api/Dispatcher', 'README'),
  undici('unpack gzip by itself', 'api/Dispatcher'),
  undici('remember the addresses of names', 'api/Dispatcher'),
  undici('treat a status of 404 as an exception', 'api/Dispatcher'),
  undici('do not ask for the same thing twice at once', 'api/Dispatcher', 'api/DiagnosticsChannel'),
  undici('how many bytes may all headers have together', 'api/Client', 'api/H2CClient'),
  undici('switch a connection to another protocol', 'api/Dispatcher'),
  undici('write a download straight into a file', 'api/Dispatcher', 'README'),
  undici('messages of a socket as readable and writable streams', 'api/WebSocket'),
  undici('let a pretended server fail', 'api/MockPool', 'api/MockErrors', 'best-practices/mocking-request'),
  undici('pretended answer for every call and not only the first', 'api/MockPool', 'api/MockAgent'),
  undici('take servers in turns', 'api/RoundRobinPool', 'api/BalancedPool'),
  undici('how much memory may kept responses take', 'api/CacheStore', 'api/Dispatcher'),
  undici('give up a call that I no longer want', 'api/Dispatcher', 'README'),
  undici(
    'which settings of my machine decide about the way out',
    'api/EnvHttpProxyAgent',
    'best-practices/proxy',
  ),
]

/** Question sets over documentation that was and was not used for tuning. */
export const heldOutSets: Readonly<Record<'fastify and undici' | 'pino and date-fns', QuestionSet>> = {
  'fastify and undici': { sources: ['pkg:fastify', 'pkg:undici'], questions: acquaintances },
  'pino and date-fns': { sources: ['pkg:pino', 'pkg:date-fns'], questions: strangers },
}
