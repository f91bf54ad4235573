/**
 * An ES import of `node:http` reads its getter `WebSocket`, which loads Node's copy of undici: 2 MB of heap
 * in the server (Node 24).
 */
export const nodeHttp = () => process.getBuiltinModule('node:http')
