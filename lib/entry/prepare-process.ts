/** Makes this process ready for the command line. It must run before anything uses a thread for files. */
export const prepareProcess = (): void => {
  // Without a listener this signal opens the debugger of Node, with which every user of the host could run code in this
  // process.
  process.on('SIGUSR1', () => {})
  // Node reads this when it starts its first thread for files. With the default of four, four reads that hang would block all
  // others.
  process.env['UV_THREADPOOL_SIZE'] ??= '32'
}
