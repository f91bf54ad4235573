/**
 * Returns `node:http`. An ES import reads all of its exports, and the getter of `WebSocket` loads Node's own copy of undici: 13 MB of
 * resident memory in an empty process, 2 MB of heap in the server (Node 24).
 */
export const nodeHttp = () => process.getBuiltinModule('node:http')
