import { defineErrors } from '@causeway/protocol'

export const LoginError = defineErrors({
  NEEDS_LOGIN: {
    status: 401,
    about: 'the remote server requires a login',
    remedy: 'run causeway mcp login',
  },
  SCOPE_MISSING: {
    status: 403,
    about: 'the login at the remote server does not permit the call; data.scope is required',
    remedy: 'run causeway mcp login again, which requests the scope',
  },
  LOGIN_FAILED: {
    status: 502,
    about: 'the authorization server refused the login',
    remedy: 'log in again; data.reason is the code of the authorization server',
  },
  LOGIN_UNKNOWN: {
    status: 410,
    about:
      'no login waits for this response: it was used, is older than 10 minutes, or was started elsewhere',
    remedy: 'run causeway mcp login again',
  },
  CLIENT_ID_REQUIRED: {
    status: 501,
    about: 'the authorization server does not register clients',
    remedy:
      'register Causeway there with data.redirect_uri, then set oauth.clientId of the server in mcp.json',
  },
  AUTHORIZATION_SERVER_INVALID: {
    status: 502,
    about: 'the metadata of the authorization server is missing, malformed or not safe to use',
    remedy: 'report it to the operator of the remote server',
  },
  AUTHORIZATION_SERVER_UNAVAILABLE: {
    status: 503,
    retryable: true,
    about: 'the authorization server cannot be reached',
    remedy: 'check the network, then call again',
  },
  AUTH_FILE_INVALID: {
    status: 500,
    about: 'auth.json is malformed or not private',
    remedy: 'correct it, or remove it and log in again',
  },
})
