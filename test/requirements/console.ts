import type { Requirements } from '../requirement.ts'

/** The web console. */
export const webConsole = {
  'console:pages:served': {
    origin: 'design, new parts: console',
    behaviour: 'each page of the console is one HTML document under a strict content security policy',
  },
  'console:pages:not-built': {
    origin: 'design, new parts: console',
    behaviour: 'without built pages the server names the command that builds them',
  },
  'console:pages:public': {
    origin: 'threat model, web pages of other local servers',
    behaviour: 'pages and assets need no token, contain no data, and are not served to other sites',
  },
  'console:pages:token': {
    origin: 'design, new parts: console',
    behaviour: 'with a token file the console asks for a token and then works',
  },
  'console:pages:clean': {
    origin: 'design, new parts: console',
    behaviour:
      'every page has no CSP violation, no console error and no WCAG A or AA violation in both themes',
  },
  'console:pages:recover': {
    origin: 'design, new parts: console',
    behaviour:
      'a page continues by itself after requests that failed because the server was busy, stopping or not reachable',
  },
  'console:pages:hostile': {
    origin: 'design, new parts: console',
    behaviour: 'markup in names and messages is shown as text',
  },
  'console:overview': {
    origin: 'design, new parts: console',
    behaviour: 'the overview shows every app with its health, and the clients of the last calls',
  },
  'console:tools:forms': {
    origin: 'design, new parts: console',
    behaviour:
      'the form of every tool is filled with its example, returns the same arguments, and calls the tool',
  },
  'console:tools:unsent': {
    origin: 'design, new parts: console',
    behaviour: 'an argument that was not entered is not sent; an entered argument can be removed again',
  },
  'console:tools:answer': {
    origin: 'design, new parts: console',
    behaviour:
      'an answer is shown as a tree, as the text that a model reads and as a picture; an error with its remedy',
  },
  'console:tools:copy': {
    origin: 'design, new parts: console',
    behaviour: 'a call can be copied as a curl command and as a causeway command that shells read unchanged',
  },
  'console:replay:link': {
    origin: 'design, new parts: console',
    behaviour: 'a link to a frame and a body of a recording opens the viewer there',
  },
  'console:replay:time': {
    origin: 'design, new parts: console',
    behaviour: 'scrubber, findings and plots share one time axis; the frame that was requested last is shown',
  },
  'console:replay:findings': {
    origin: 'design, new parts: console',
    behaviour:
      'a finding opens its frame and body, and the page names the laws that did not apply or were not checked',
  },
  'console:replay:follow': {
    origin: 'design, new parts: console',
    behaviour:
      'a page that follows shows the recording, frame and contact of a call through the bridge, and so does its viewer_url',
  },
  'console:replay:lost': {
    origin: 'design, new parts: console',
    behaviour: 'bodies without finite poses are counted and hidden, and the rest of the viewer works',
  },
  'console:replay:live': {
    origin: 'design, new parts: console',
    behaviour:
      'the viewer shows the first and new frames of a recording that is being written, and leaves the shown frame if it is not the newest',
  },
  'console:replay:columns': {
    origin: 'design, new parts: console',
    behaviour:
      'the list of recordings shows bodies, frames, duration and era of each, and a dash for those that the server has not read',
  },
  'console:replay:upload': {
    origin: 'design, new parts: console',
    behaviour:
      'a file of JSON lines, MCAP or SQLite that is dropped or chosen is uploaded with progress; an upload that is refused, cancelled or whose page is closed stores nothing, and the reason is text',
  },
  'console:replay:compare': {
    origin: 'design, new parts: console',
    behaviour:
      'two recordings are shown next to each other or in one scene, with one clock and one camera; one click shows their first difference',
  },
  'console:replay:without-webgl': {
    origin: 'design, new parts: console',
    behaviour: 'without WebGL the server draws the frames',
  },
  'console:debrief:live': {
    origin: 'design, new parts: console',
    behaviour: 'changes of a plot by other clients appear without a reload, and can be undone',
  },
  'console:debrief:edit': {
    origin: 'design, new parts: console',
    behaviour: 'a feature is selected, renamed, restored and saved with the keyboard alone',
  },
  'console:debrief:conflict': {
    origin: 'design, new parts: console',
    behaviour: 'an edit never overwrites a change by another client or program; the page shows both',
  },
  'console:minds': {
    origin: 'design, new parts: console',
    behaviour: 'a decision is shown with its stored candidates and reasons, and memories can be recalled',
  },
  'console:trm': {
    origin: 'design, new parts: console',
    behaviour:
      'a session shows the score of each step, marks the best, sums the signals, shows how each test ended in each step, and can be undone',
  },
  'minds:decisions': {
    origin: 'design, new parts: console',
    behaviour: 'viewers receive the last decisions of a mind, newest first',
  },
  'trm:diff': {
    origin: 'design, new parts: console',
    behaviour: 'viewers receive the changes of the files in a step, also after it was undone',
  },
  'trm:tests': {
    origin: 'design, new parts: console',
    behaviour: 'viewers receive how each test ended in each evaluation, as far as the stored results show it',
  },
  'debrief:coast': {
    origin: 'design, new parts: console',
    behaviour: 'viewers receive the land within bounds, clipped, also across the antimeridian',
  },
  'replay:viewer:poses': {
    origin: 'design, new parts: console',
    behaviour:
      'poses are served as float32 relative to an origin, with marks for absent, infinite and far bodies',
  },
  'replay:viewer:scene': {
    origin: 'design, new parts: console',
    behaviour:
      'the scene of a frame has shapes, planes, and the contact forces in newtons on one body of each pair',
  },
  'console:traffic:events': {
    origin: 'design, new parts: console',
    behaviour:
      'finished calls are streamed without arguments and results, and a reader that reconnects misses none',
  },
  'console:traffic:errors': {
    origin: 'design, new parts: console',
    behaviour: 'failed calls are grouped by error code and tool over a stated number of calls',
  },
  'console:sessions': {
    origin: 'design, new parts: console',
    behaviour: 'sessions are listed with their calls and without their ids, and an open session can be ended',
  },
  'console:capture': {
    origin: 'design, new parts: console',
    behaviour:
      'arguments and answers of one session are captured in memory after a person starts it, for ten minutes and the last 100 calls, and then deleted',
  },
  'console:capture:page': {
    origin: 'design, new parts: console',
    behaviour:
      'every page shows that calls are captured; the captured call shows its arguments and its answer as text; one click stops it',
  },
  'console:health:figures': {
    origin: 'design, new parts: console',
    behaviour:
      'event-loop delay, memory and calls of the last 15 minutes and the sizes of the databases are served',
  },
  'console:logs': {
    origin: 'design, new parts: console',
    behaviour: 'the latest log lines are served by level and text, without folders of the machine',
  },
  'console:viewer-url': {
    origin: 'design, new parts: console',
    behaviour: 'results of Replay and Debrief contain the address of the page that shows what they are about',
  },
  'console:traffic:page': {
    origin: 'design, new parts: console',
    behaviour: 'every call is listed as it ends; errors are grouped, and one click opens the failing call',
  },
  'console:traffic:history': {
    origin: 'design, new parts: console',
    behaviour: 'a filter also finds calls that the page never received, in steps, and remains after a reload',
  },
  'console:traffic:shared': {
    origin: 'design, new parts: console',
    behaviour:
      'tabs share one stream of calls; when its tab is closed, another continues without loss; browsers without locks open one stream for each tab',
  },
  'console:traffic:load': {
    origin: 'design, new parts: console',
    behaviour: '500 calls per second cause no task over 100 ms, and the counts equal those that were made',
  },
  'console:sessions:page': {
    origin: 'design, new parts: console',
    behaviour: 'the sessions page lists clients, and ends an open session',
  },
  'console:servers:page': {
    origin: 'gateway design, console page',
    behaviour:
      'hosted servers are listed with processes, memory, errors and logs; changed definitions are shown as a diff, and no page can approve them',
  },
  'console:servers:diff': {
    origin: 'gateway design, console page',
    behaviour: 'a diff of definitions shows changed lines only, and control characters as escapes',
  },
  'console:logs:page': {
    origin: 'design, new parts: console',
    behaviour: 'the logs page shows lines as they are written, by level and text, with links to their calls',
  },
  'console:health:page': {
    origin: 'design, new parts: console',
    behaviour: 'the health page shows a failed app within seconds, and no page shows a folder of the machine',
  },
  'console:keys': {
    origin: 'design, new parts: console',
    behaviour: 'the dialog of `?` lists the keys of the page, and each key does what it lists',
  },
  'console:palette': {
    origin: 'design, new parts: console',
    behaviour:
      'Ctrl K searches pages, tools, recordings, plots, minds, sessions, frames and findings with the keyboard alone, also if a list cannot be loaded',
  },
  'console:widgets:series': {
    origin: 'MCP Apps 2026-01-26',
    behaviour:
      'results with quantities are shown as a plot by hosts of MCP Apps; the frame under the cursor reaches the model',
  },
  'console:widgets:scene': {
    origin: 'MCP Apps 2026-01-26',
    behaviour: 'a frame is shown as a scene by hosts of MCP Apps, on the shared mount and on that of the app',
  },
  'console:widgets:map': {
    origin: 'MCP Apps 2026-01-26',
    behaviour: 'a plot is shown as a map by hosts of MCP Apps; a selection there is that of the plot',
  },
  'console:widgets:decision': {
    origin: 'MCP Apps 2026-01-26',
    behaviour: 'a decision is shown with its candidates by hosts of MCP Apps',
  },
  'console:widgets:host': {
    origin: 'MCP Apps 2026-01-26',
    behaviour:
      'a widget shows errors, follows the theme of its host, ignores other windows, and repeats a lost result',
  },
  'console:size': {
    origin: 'design, budgets',
    behaviour:
      'the shell has at most 25 kB of compressed code and styles; larger libraries are loaded by the pages that use them',
  },
  'console:budgets:load': {
    origin: 'design, budgets',
    behaviour:
      'the main thread needs at most 400 ms for the overview and 1 s for the first frame of a recording',
  },
  'console:budgets:playback': {
    origin: 'design, budgets',
    behaviour: 'playback needs at most 3 ms of script for a frame with 12 bodies, and 4 ms with 1,000',
  },
  'console:budgets:seek': {
    origin: 'design, budgets',
    behaviour: 'a frame that is not loaded needs at most 30 ms of the main thread',
  },
  'console:budgets:memory': {
    origin: 'design, budgets',
    behaviour: 'the heap grows by less than 5 MB when 20 recordings are opened one after the other',
  },
  'console:budgets:tools': {
    origin: 'design, budgets',
    behaviour: 'a key in the filter of 500 tools needs at most 50 ms of the main thread',
  },
  'console:budgets:minds': {
    origin: 'design, budgets',
    behaviour: 'twelve minds that decide once a second cost a page less than a tenth of a core',
  },
  'console:budgets:idle': {
    origin: 'design, budgets',
    behaviour: 'an open page costs less than a twentieth of a core in the browser and in the server',
  },
  'console:budgets:diff': {
    origin: 'design, budgets',
    behaviour: 'a diff of 5,000 lines is shown completely and scrolls without tasks over 100 ms',
  },
  'console:budgets:map': {
    origin: 'design, budgets',
    behaviour: 'the time of a plot with 100,000 positions is moved without tasks over 100 ms',
  },
} as const satisfies Requirements
