/**
 * Questions about the documentation of Fastify and undici, in the words of a person who has not read it. `pages` are the pages that
 * answer the question. Each question was written before it was searched, but ranking, synonyms and the fused lists were tuned on
 * the scores of the whole set: its figures detect regressions and overstate the quality for other questions. See `held-out.ts`.
 */

/** A question and the pages that answer it, as `source/path`. */
export interface HelpQuestion {
  readonly text: string
  readonly pages: readonly string[]
}

/** A question about the documentation of Fastify. */
export const fastify = (text: string, ...pages: readonly string[]): HelpQuestion => ({
  text,
  pages: pages.map((page) => `pkg:fastify/docs/${page}.md`),
})

/** A question about the documentation of undici. */
export const undici = (text: string, ...pages: readonly string[]): HelpQuestion => ({
  text,
  pages: pages.map((page) =>
    page === 'README' ? 'pkg:undici/README.md' : `pkg:undici/docs/docs/${page}.md`,
  ),
})

/** Questions, and the sources that are indexed for them. */
export interface QuestionSet {
  readonly sources: readonly string[]
  readonly questions: readonly HelpQuestion[]
}

/** All questions of the evaluation. */
export const helpQuestions: readonly HelpQuestion[] = [
  fastify('how do I reject a payload that is bigger than a megabyte', 'Reference/Server', 'Reference/Routes'),
  fastify(
    'run code before each handler to see whether the caller is logged in',
    'Reference/Hooks',
    'Reference/Lifecycle',
  ),
  fastify('can I call my endpoints from a test without opening a port', 'Guides/Testing'),
  fastify(
    'why is a thing I attached inside one plugin not visible in its sibling',
    'Reference/Encapsulation',
    'Guides/Plugins-Guide',
    'Reference/Plugins',
  ),
  fastify(
    'make JSON output faster by declaring what the answer looks like',
    'Reference/Validation-and-Serialization',
    'Guides/Getting-Started',
  ),
  fastify('accept requests whose body is XML', 'Reference/ContentTypeParser'),
  fastify('hide passwords and authorization headers in what gets logged', 'Reference/Logging'),
  fastify(
    'the person closed the browser while my handler was still working',
    'Guides/Detecting-When-Clients-Abort',
    'Reference/Hooks',
  ),
  fastify('do not serve customers until my database is warmed up', 'Guides/Delay-Accepting-Requests'),
  fastify('put the app behind nginx so it terminates TLS', 'Guides/Recommendations', 'Reference/Server'),
  fastify('deploy to a lambda in the cloud', 'Guides/Serverless'),
  fastify(
    'malicious __proto__ keys sent in a JSON document',
    'Guides/Prototype-Poisoning',
    'Reference/Server',
  ),
  fastify('how long will an old major version get fixes', 'Reference/LTS'),
  fastify('what stopped working between four and five', 'Guides/Migration-Guide-V5'),
  fastify(
    'have the compiler infer the type of the query from my schema',
    'Reference/Type-Providers',
    'Guides/Write-Type-Provider',
    'Reference/TypeScript',
  ),
  fastify(
    'different handlers for the same path depending on a version header',
    'Reference/Routes',
    'Reference/Server',
  ),
  fastify('send a file as it is being read instead of loading it all in memory', 'Reference/Reply'),
  fastify('customize the page shown when nothing matches the address', 'Reference/Server'),
  fastify(
    'one place that turns every exception into my own response format',
    'Reference/Errors',
    'Reference/Server',
  ),
  fastify(
    'attach the current user to each incoming message object',
    'Reference/Decorators',
    'Reference/Request',
  ),
  fastify('connect to mongo or postgres', 'Guides/Database'),
  fastify(
    'share a common piece of schema between many routes',
    'Reference/Validation-and-Serialization',
    'Guides/Fluent-Schema',
  ),
  fastify(
    'build validation rules with chained function calls rather than plain objects',
    'Guides/Fluent-Schema',
  ),
  fastify('use express style functions with req, res and next', 'Reference/Middleware'),
  fastify('talk to browsers over the newer multiplexed protocol with a certificate', 'Reference/HTTP2'),
  fastify(
    'in which order do the phases of handling a request happen',
    'Reference/Lifecycle',
    'Reference/Hooks',
  ),
  fastify(
    'give every request a unique number for tracing',
    'Reference/Server',
    'Reference/Logging',
    'Reference/Request',
  ),
  fastify('stop gracefully and finish what is in progress', 'Reference/Server', 'Reference/Hooks'),
  fastify('the plugin took too long to start', 'Reference/Errors', 'Reference/Server', 'Reference/Plugins'),
  fastify('measure how many requests per second my service can take', 'Guides/Benchmarking'),
  fastify('publish my own extension so that others can install it', 'Guides/Write-Plugin'),
  fastify('FST_ERR_CTP_INVALID_MEDIA_TYPE', 'Reference/Errors'),
  fastify('only match a route for certain host names', 'Reference/Routes'),
  fastify(
    'get the address of the visitor when there is a load balancer in between',
    'Reference/Server',
    'Reference/Request',
  ),
  fastify('what deprecation notices can the framework print', 'Reference/Warnings'),

  undici(
    'go through a corporate gateway for outgoing traffic',
    'api/ProxyAgent',
    'best-practices/proxy',
    'api/EnvHttpProxyAgent',
  ),
  undici('pick up HTTP_PROXY and NO_PROXY from the environment', 'api/EnvHttpProxyAgent'),
  undici('try a failed download again after a while', 'api/RetryAgent', 'api/RetryHandler'),
  undici(
    'pretend to be a server in unit tests',
    'api/MockAgent',
    'best-practices/mocking-request',
    'api/MockPool',
    'api/MockClient',
  ),
  undici('record real traffic once and play it back later in tests', 'api/SnapshotAgent'),
  undici(
    'find out which fake calls were made during a test',
    'api/MockCallHistory',
    'api/MockCallHistoryLog',
    'best-practices/mocking-request',
  ),
  undici('limit the number of parallel sockets to one host', 'api/Pool', 'api/Agent', 'api/Client'),
  undici('spread load evenly over several backends', 'api/BalancedPool', 'api/RoundRobinPool'),
  undici(
    'present my own certificate to a server that demands one',
    'best-practices/client-certificate',
    'api/Connector',
  ),
  undici(
    'give up when the server does not send headers in time',
    'api/Client',
    'api/Errors',
    'api/Dispatcher',
  ),
  undici('several requests on one connection before the first is answered', 'api/Client', 'README'),
  undici('keep responses on disk so that they need not be fetched again', 'api/CacheStore', 'api/Dispatcher'),
  undici('read and write cookies of a response', 'api/Cookies'),
  undici('receive a stream of events pushed by the server', 'api/EventSource'),
  undici('two-way messages over one long lived connection', 'api/WebSocket'),
  undici('see what the library is doing inside for troubleshooting', 'api/Debug', 'api/DiagnosticsChannel'),
  undici('instrument outgoing calls for monitoring', 'api/DiagnosticsChannel'),
  undici(
    'should I use this package or what node already has built in',
    'best-practices/undici-vs-builtin-fetch',
    'README',
  ),
  undici('tunnel through tor', 'api/Socks5ProxyAgent', 'api/ProxyAgent'),
  undici('speak the newer protocol without encryption', 'api/H2CClient'),
  undici('follow a 302 to where it points', 'api/RedirectHandler', 'api/Dispatcher', 'README'),
  undici('make fetch and its classes available everywhere', 'api/GlobalInstallation', 'README'),
  undici('how many connections are free, busy or waiting', 'api/PoolStats', 'api/ClientStats', 'api/Pool'),
  undici('what does it mean when the other side closed the socket', 'api/Errors'),
  undici('in which states can a client be from creation to destruction', 'api/api-lifecycle'),
  undici('write a polite crawler that does not overload sites', 'best-practices/crawling'),
  undici('my test process hangs because connections stay open', 'best-practices/writing-tests', 'api/Client'),
  undici('take apart the media type of a header', 'api/ContentType'),
  undici('connect to a unix domain socket', 'api/Client', 'api/Connector'),
  undici('upload a form with a file', 'api/Fetch', 'README'),
  undici('add behaviour around each dispatch, like a chain of functions', 'api/Dispatcher'),
  undici('UND_ERR_CONNECT_TIMEOUT', 'api/Errors'),
  undici('turn a list of raw headers into an object', 'api/Util'),

  // Questions of an agent that knows the library by name, with identifiers from an error or a program.
  fastify(
    'How can I change the maximum size of a request body in Fastify for one route only?',
    'Reference/Routes',
    'Reference/Server',
  ),
  fastify(
    'What is the difference between a decorator and a hook?',
    'Reference/Decorators',
    'Reference/Hooks',
    'Guides/Plugins-Guide',
  ),
  fastify('setErrorHandler', 'Reference/Server', 'Reference/Errors'),
  fastify(
    'How do I validate query string parameters with JSON schema in Fastify?',
    'Reference/Validation-and-Serialization',
    'Reference/Routes',
  ),
  fastify('Which option makes Fastify trust X-Forwarded-For?', 'Reference/Server', 'Reference/Request'),
  fastify(
    'fastify-plugin skip-override',
    'Reference/Plugins',
    'Guides/Plugins-Guide',
    'Guides/Write-Plugin',
    'Reference/Encapsulation',
  ),
  fastify('How do I write a unit test for a Fastify application with node:test?', 'Guides/Testing'),
  fastify('onRequestAbort', 'Reference/Hooks', 'Guides/Detecting-When-Clients-Abort'),
  fastify('Does Fastify support HTTP/2 over TLS?', 'Reference/HTTP2', 'Reference/Server'),
  fastify(
    'How do I turn off request logging for health checks?',
    'Reference/Logging',
    'Reference/Server',
    'Reference/Routes',
  ),
  fastify('reply.send with a ReadableStream', 'Reference/Reply'),
  fastify('Can hooks be async functions or must I call done?', 'Reference/Hooks'),
  fastify(
    'How do I write a route handler with typed params in TypeScript?',
    'Reference/TypeScript',
    'Reference/Type-Providers',
  ),
  fastify('FSTDEP022', 'Reference/Warnings'),
  fastify(
    'What does the register function do with a prefix option?',
    'Reference/Routes',
    'Reference/Plugins',
    'Reference/Server',
  ),
  fastify('addContentTypeParser parseAs buffer', 'Reference/ContentTypeParser'),
  fastify('Migrating an application from Fastify v3 to v4', 'Guides/Migration-Guide-V4'),

  undici(
    'How do I set a timeout for waiting on response headers in undici?',
    'api/Client',
    'api/Dispatcher',
    'README',
  ),
  undici(
    'setGlobalDispatcher',
    'README',
    'api/Agent',
    'best-practices/mocking-request',
    'api/MockAgent',
    'api/EnvHttpProxyAgent',
    'api/ProxyAgent',
    'best-practices/proxy',
    'api/GlobalInstallation',
    'best-practices/undici-vs-builtin-fetch',
    'api/Dispatcher',
  ),
  undici(
    'How do I authenticate to a proxy with a username and password in undici?',
    'api/ProxyAgent',
    'best-practices/proxy',
    'api/Socks5ProxyAgent',
  ),
  undici('RetryAgent maxRetries', 'api/RetryAgent', 'api/RetryHandler'),
  undici('What is the default number of connections of an undici Pool?', 'api/Pool'),
  undici('MockAgent disableNetConnect', 'api/MockAgent', 'best-practices/mocking-request'),
  undici('How do I cache responses with an interceptor?', 'api/Dispatcher', 'api/CacheStore', 'README'),
  undici('Which errors does undici throw and what are their codes?', 'api/Errors'),
  undici(
    'How do I intercept a POST request with a certain body in a mock pool?',
    'api/MockPool',
    'api/MockAgent',
    'best-practices/mocking-request',
    'api/MockClient',
  ),
  undici('undici:request:headers channel', 'api/DiagnosticsChannel'),
  undici(
    'How do I use mutual TLS with an undici client?',
    'best-practices/client-certificate',
    'api/Connector',
    'api/Client',
  ),
  undici(
    'How can I consume the body of a response as JSON with undici request?',
    'README',
    'api/Dispatcher',
    'api/Fetch',
  ),
  undici('SnapshotAgent playback mode', 'api/SnapshotAgent'),
  undici(
    'What happens to queued requests when I destroy a client?',
    'api/Client',
    'api/Dispatcher',
    'api/api-lifecycle',
  ),
  undici('How do I send a message over a WebSocket with undici?', 'api/WebSocket'),
  undici('bodyTimeout', 'api/Client', 'api/Dispatcher'),
]

/** The set that was used to tune the ranking. */
export const tunedSet: QuestionSet = { sources: ['pkg:fastify', 'pkg:undici'], questions: helpQuestions }
