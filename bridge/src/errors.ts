import { CausewayError, defineErrors } from '@causeway/protocol'

export const BridgeError = defineErrors({
  SERVER_UNREACHABLE: {
    rpc: -32603,
    status: 503,
    retryable: true,
    about: 'the bridge cannot reach the server',
    remedy:
      'start it: `npm start` in a checkout, `causeway` if it is installed; or set MCP_SERVER_URL to its address',
  },
  SERVER_START_FAILED: {
    rpc: -32603,
    status: 503,
    retryable: true,
    about: 'the bridge could not start the server',
    remedy: 'see the log named in data.log',
  },
  SERVER_ANSWER_INVALID: {
    rpc: -32603,
    status: 502,
    about: 'the response of the server is not MCP',
    remedy: 'check that MCP_SERVER_URL ends in /mcp',
  },
  TOOL_HIDDEN: {
    rpc: -32602,
    status: 404,
    about: 'the bridge is configured to hide the tool',
    remedy: 'call another tool, or start the bridge without --only and --ignore',
  },
  NOT_IN_TRAFFIC: {
    rpc: -32603,
    status: 404,
    about: 'the recorded traffic does not contain the call',
    remedy: 'make a call that was recorded, or start the bridge without --replay',
  },
})

export const createSettingError = (message: string, remedy: string): CausewayError =>
  new CausewayError('INVALID_SETTING', message, { remedy })
