const outlived = new WeakSet<NodeJS.WritableStream>();

/** Whoever reads a pipe may have seen enough (`tenantry up | head -1`): what nobody reads is lost, and the process goes on. */
export function outliveReader(stream: NodeJS.WritableStream): void {
  if (outlived.has(stream)) return;
  outlived.add(stream);
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
  });
}
