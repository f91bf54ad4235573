import type { Requirements } from '../requirement.ts'

/** Lists that fit the client, and the tools that find what a list leaves out. */
export const views = {
  'view:full': {
    origin: 'design, tool budget: views',
    behaviour:
      '/mcp lists all tools, marks at most 6 of them to load at the start, and gives search hints within the size limits of listings',
  },
  'view:core': {
    origin: 'design, tool budget: views',
    behaviour:
      '/mcp/core lists at most 20 tools in 16 kB: core tools and the four that find, describe and call the others',
  },
  'view:core:no-room': {
    origin: 'design, tool budget: views',
    behaviour: 'core tools that exceed the limits are not listed, are reported, and remain callable',
  },
  'view:profile': {
    origin: 'design, tool budget: views',
    behaviour: '/mcp/p/<profile> lists the tools that match the patterns of a configured profile',
  },
  'view:callable': {
    origin: 'design, tool budget: listing is not permission',
    behaviour: 'every tool is callable by its name on every shared view',
  },
  'view:reserved': {
    origin: 'design, tool budget: views',
    behaviour: 'an app whose path is that of a view is rejected',
  },
  'view:instructions': {
    origin: 'design, tool budget: instructions',
    behaviour: 'the instructions of a shared view have at most 2 kB and name every app',
  },
  'view:find': {
    origin: 'design, tool budget: find_tools',
    behaviour:
      'the five tools that find_tools returns in 4 kB include the right one for at least 95 of 100 questions of users',
  },
  'view:describe': {
    origin: 'design, tool budget: describe_tool',
    behaviour: 'describe_tool returns the definition of any tool, and suggests a name for an unknown one',
  },
  'view:call': {
    origin: 'design, tool budget: call_tool',
    behaviour:
      'a call with call_tool is a call of the named tool: same result, errors, access, limits, state, task and audit entry',
  },
  'view:call:read-only': {
    origin: 'design, tool budget: call_read_tool',
    behaviour: 'call_read_tool rejects tools that are not read-only',
  },
} as const satisfies Requirements
