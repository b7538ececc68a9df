/** Files in a machine's folder, which is the working folder of its QEMU. */
export const fileNames = {
  /** The folder in which QEMU creates its own files. */
  runFolder: 'run',
  /** Written by the service, outside of `runFolder`, so that QEMU cannot replace it. */
  pidFile: 'qemu.pid',
  /** The pid file of older versions of the service. */
  legacyPid: 'run/pid',
  controlSocket: 'run/qmp.sock',
  /** A second control socket for other tools, since each socket serves one client. */
  spareControlSocket: 'run/qmp2.sock',
  /** The guest's serial line. Only the recorder connects to it. */
  serialLine: 'run/line.sock',
  /** The serial line for other tools, served by the recorder. */
  serialSocket: 'run/serial.sock',
  serialLog: 'serial.log',
  /** The error output of QEMU. It is outside of `runFolder` because the service opens it. */
  qemuLog: 'qemu.log',
  /**
   * The socket on which the service receives the memory of a machine that it suspends; outside of `runFolder`, so that QEMU
   * cannot replace it.
   */
  memorySocket: 'memory.sock',
  /** The socket of the guest agent. */
  agentSocket: 'run/agent.sock',
  /** The socket of the screen, on which QEMU speaks RFB. */
  screenSocket: 'run/screen.sock',
  /** The picture that QEMU draws for a screenshot. It is deleted when it has been read. */
  screenshot: 'run/screen.png',
  /** The socket on which the QEMU of a fork takes the state of its devices. */
  forkSocket: 'run/fork.sock',
  stateFile: 'state.mem',
  /** Identifies the saved memory in `stateFile`. */
  stateInfo: 'state.json',
  unfinishedState: 'state.mem.new',
  /** Saved memory that was loaded. Its guest has run since. */
  loadedState: 'state.mem.spent',
} as const
