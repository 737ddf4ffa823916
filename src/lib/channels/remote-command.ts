/** The channels of exec and attach, the same in all versions of the protocol. */
export const CHANNEL = { stdin: 0, stdout: 1, stderr: 2, error: 3, resize: 4 } as const;

export const V5 = 'v5.channel.k8s.io';
export const V4 = 'v4.channel.k8s.io';
export const V4_BASE64 = 'v4.base64.channel.k8s.io';
export const V1 = 'channel.k8s.io';
export const V1_BASE64 = 'base64.channel.k8s.io';

export const PORT_FORWARD = 'portforward.k8s.io';
/** SPDY's bytes as messages of a WebSocket. */
export const TUNNELLED_PORT_FORWARD = `SPDY/3.1+${PORT_FORWARD}`;
