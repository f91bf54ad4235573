/**
 * A third set of questions about the documentation of Fastify and undici, written from the pages before any search and never
 * reworded, half in short words and half in sentences as people ask an assistant. Every second one, `fresh`, was inspected while
 * the ranking was tuned. The others, `untouched`, were used after that tuning, and later to compare variants of the fusion.
 */
import { fastify, type HelpQuestion, type QuestionSet, undici } from './questions.ts'

const all: readonly HelpQuestion[] = [
  fastify(
    'How do I protect my service from clients that send their data extremely slowly?',
    'Reference/Server',
  ),
  fastify(
    'The client gets 415 when it posts a form. How do I make the server understand it?',
    'Reference/ContentTypeParser',
    'Reference/Validation-and-Serialization',
  ),
  fastify('Is there a way to change the URL before the router sees it?', 'Reference/Server'),
  fastify('I want to reject weird characters and broken percent encoding in the address', 'Reference/Server'),
  fastify(
    'How can I give each component its own prefix like /v1 and /v2?',
    'Reference/Routes',
    'Reference/Plugins',
    'Guides/Getting-Started',
  ),
  fastify(
    'Why did my handler send nothing when I forgot to return a promise?',
    'Reference/Routes',
    'Reference/Reply',
    'Reference/Errors',
  ),
  fastify(
    'How do I use my own logger instance such as winston or bunyan?',
    'Reference/Logging',
    'Reference/Server',
  ),
  fastify(
    'Write less to the console for one noisy endpoint',
    'Reference/Routes',
    'Reference/Logging',
    'Reference/Server',
  ),
  fastify('How can I set a cookie or a custom header on the answer?', 'Reference/Reply', 'Guides/Ecosystem'),
  fastify('send a 201 with an empty body', 'Reference/Reply'),
  fastify('How do I know the IP address and the host name the visitor used?', 'Reference/Request'),
  fastify(
    'what happens when two plugins register the same decorator name',
    'Reference/Decorators',
    'Reference/Errors',
  ),
  fastify(
    'Make a value computed once at startup reachable from all handlers',
    'Reference/Decorators',
    'Guides/Plugins-Guide',
    'Guides/Getting-Started',
  ),
  fastify(
    'Why is it bad to put an object as the default value of a request property?',
    'Reference/Decorators',
  ),
  fastify(
    'Run cleanup such as closing database connections when the process stops',
    'Reference/Hooks',
    'Reference/Server',
    'Reference/Lifecycle',
  ),
  fastify(
    'How can I wait until every plugin is loaded before I begin?',
    'Reference/Server',
    'Reference/Plugins',
    'Reference/Hooks',
  ),
  fastify('change the parsed body before it is validated', 'Reference/Hooks', 'Reference/Lifecycle'),
  fastify('compress or encrypt the payload on its way out', 'Reference/Hooks', 'Guides/Ecosystem'),
  fastify('act when a socket times out before the answer was sent', 'Reference/Hooks', 'Reference/Server'),
  fastify(
    'Convert strings in the query to numbers automatically',
    'Reference/Validation-and-Serialization',
    'Reference/Server',
  ),
  fastify(
    'return all validation problems instead of only the first one',
    'Reference/Validation-and-Serialization',
    'Reference/Server',
  ),
  fastify(
    'Show friendlier messages when input is invalid',
    'Reference/Validation-and-Serialization',
    'Reference/Server',
    'Reference/Errors',
  ),
  fastify(
    'Leave out secret fields such as a password hash when an object is turned into an answer',
    'Reference/Validation-and-Serialization',
    'Guides/Getting-Started',
    'Reference/Routes',
  ),
  fastify('Which Node.js versions are supported by which release?', 'Reference/LTS'),
  fastify(
    'Use zod for checking input and get types from it',
    'Reference/Type-Providers',
    'Reference/Validation-and-Serialization',
    'Guides/Ecosystem',
  ),
  fastify(
    'How do I tell TypeScript about a property that I added to the request?',
    'Reference/TypeScript',
    'Reference/Decorators',
  ),
  fastify('autocomplete in an editor without writing TypeScript', 'Reference/TypeScript'),
  fastify('is cors available', 'Guides/Ecosystem', 'Reference/Middleware'),
  fastify('upload files with multipart', 'Guides/Ecosystem', 'Reference/ContentTypeParser'),
  fastify('Which heap size and how many cores should I plan for in production?', 'Guides/Recommendations'),
  fastify(
    'The readiness probe of my pods fails',
    'Guides/Recommendations',
    'Guides/Delay-Accepting-Requests',
  ),
  fastify('run it with docker on Google', 'Guides/Serverless'),
  fastify('answer 503 with a Retry-After until things are ready', 'Guides/Delay-Accepting-Requests'),
  fastify('How should the code be split so that it can be tested without starting it?', 'Guides/Testing'),
  fastify('step through a failing test with a debugger', 'Guides/Testing'),
  fastify('what makes a third-party extension well behaved: license, docs, linting', 'Guides/Write-Plugin'),
  fastify('Emit a deprecation message from my own extension', 'Guides/Plugins-Guide', 'Reference/Warnings'),
  fastify('Where did the history of the __proto__ attack begin?', 'Guides/Prototype-Poisoning'),
  fastify('compare the speed of my branch with that of main', 'Guides/Benchmarking'),
  fastify(
    'My code used request.connection and reply.res, what replaced them?',
    'Guides/Migration-Guide-V5',
    'Guides/Migration-Guide-V3',
    'Guides/Migration-Guide-V4',
    'Reference/Request',
    'Reference/Reply',
  ),
  fastify('fall back to HTTP/1.1 for old browsers on the same port', 'Reference/HTTP2'),
  fastify(
    'helmet and other connect style functions only for some paths',
    'Reference/Middleware',
    'Guides/Ecosystem',
  ),
  fastify('uncaught exception in an async callback crashes everything', 'Reference/Errors'),
  fastify('regular expression in a route and wildcards', 'Reference/Routes'),

  undici(
    'How do I reuse sockets for many requests to the same host?',
    'api/Pool',
    'api/Client',
    'api/Agent',
    'README',
  ),
  undici(
    'What is the difference between a client, a pool and an agent?',
    'api/Agent',
    'api/Pool',
    'api/Client',
    'README',
  ),
  undici(
    'My requests hang forever when the network is bad. Which timeouts exist?',
    'api/Client',
    'api/Dispatcher',
    'README',
    'api/Errors',
  ),
  undici(
    'Wait a bit longer after each failed attempt',
    'api/RetryHandler',
    'api/RetryAgent',
    'api/Dispatcher',
  ),
  undici(
    'which status codes lead to another attempt',
    'api/RetryHandler',
    'api/RetryAgent',
    'api/Dispatcher',
  ),
  undici(
    'accept a self-signed certificate in development',
    'api/Connector',
    'api/Client',
    'best-practices/client-certificate',
    'api/ProxyAgent',
  ),
  undici('pin a server by the fingerprint of its certificate', 'api/Connector'),
  undici(
    'Do I have to read the body if I only care about the status?',
    'README',
    'api/Dispatcher',
    'api/Fetch',
  ),
  undici('pipe a response into another stream without buffering', 'api/Dispatcher', 'README'),
  undici('Use a single keep-alive connection and send calls one after another', 'api/Client', 'README'),
  undici(
    'how do I close everything politely so that my script can exit',
    'api/Client',
    'api/Dispatcher',
    'api/Agent',
    'best-practices/writing-tests',
    'api/MockAgent',
  ),
  undici(
    'make sure that no test ever talks to the real internet',
    'api/MockAgent',
    'best-practices/mocking-request',
    'best-practices/writing-tests',
  ),
  undici(
    'check that all expected fake calls really happened',
    'api/MockAgent',
    'best-practices/mocking-request',
  ),
  undici(
    'return a different fake body depending on what was asked',
    'best-practices/mocking-request',
    'api/MockPool',
  ),
  undici('look up the third call that was made during a test', 'api/MockCallHistory'),
  undici(
    'what does one logged fake call contain: method, path, headers',
    'api/MockCallHistoryLog',
    'best-practices/mocking-request',
  ),
  undici('error when no fake answer fits', 'api/MockErrors'),
  undici('keep tokens and passwords out of recorded test fixtures', 'api/SnapshotAgent'),
  undici('How do I skip the proxy for some hosts?', 'api/EnvHttpProxyAgent'),
  undici('The proxy itself needs https and a password', 'api/ProxyAgent', 'best-practices/proxy'),
  undici('print what happens on the wire by setting an environment variable', 'api/Debug'),
  undici('be notified when a request starts and when its headers arrive', 'api/DiagnosticsChannel'),
  undici('server sent events with automatic reconnection', 'api/EventSource'),
  undici('send custom headers when opening a websocket', 'api/WebSocket'),
  undici('delete a cookie on the client side', 'api/Cookies'),
  undici('parse text/html; charset=utf-8', 'api/ContentType'),
  undici('Response cache backed by sqlite', 'api/CacheStore'),
  undici('The browser Cache API: open, match, delete', 'api/CacheStorage'),
  undici('http/2 over cleartext with prior knowledge', 'api/H2CClient', 'api/Client'),
  undici(
    'send every request to the next server in the list regardless of load',
    'api/RoundRobinPool',
    'api/BalancedPool',
  ),
  undici('add or take away a backend while running', 'api/BalancedPool'),
  undici(
    'number of sockets currently open to a host',
    'api/PoolStats',
    'api/ClientStats',
    'api/Agent',
    'api/Pool',
  ),
  undici(
    'replace the fetch of node with the one of this package',
    'api/GlobalInstallation',
    'best-practices/undici-vs-builtin-fetch',
    'README',
  ),
  undici('which user agent should my bot send', 'best-practices/crawling'),
  undici(
    'FormData from one implementation given to fetch of the other',
    'best-practices/undici-vs-builtin-fetch',
    'api/GlobalInstallation',
    'api/Fetch',
    'README',
  ),
  undici(
    'How many times does it follow a moved page before it gives up?',
    'api/RedirectHandler',
    'api/Dispatcher',
    'README',
  ),
  undici('write my own interceptor that adds a header to all calls', 'api/Dispatcher', 'README'),
  undici('when does a client become busy and what happens then', 'api/api-lifecycle', 'api/Client'),
  undici('UND_ERR_HEADERS_OVERFLOW', 'api/Errors'),
  undici('turn raw header buffers into lower case names', 'api/Util'),
]

const every = (rest: number): QuestionSet => ({
  sources: ['pkg:fastify', 'pkg:undici'],
  questions: all.filter((_, i) => i % 2 === rest),
})

/** The half that was inspected. */
export const freshSet = every(0)

/** The half that was not inspected until variants of the fusion were compared with it. */
export const untouchedSet = every(1)
