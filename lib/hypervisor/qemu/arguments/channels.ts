import { fileNames } from '../file-names.ts'
import { buildSocket } from './options.ts'

/** Returns the arguments of the control sockets and of the serial line. */
export const buildChannelArguments = (): string[] => [
  ...buildSocket('control', fileNames.controlSocket, 'off'),
  ...['-mon', 'chardev=control,mode=control'],
  ...buildSocket('spare', fileNames.spareControlSocket, 'off'),
  ...['-mon', 'chardev=spare,mode=control'],
  // QEMU waits for the recorder before the guest starts, so its first output is recorded too. Later it drops output without
  // a reader.
  ...buildSocket('serial', fileNames.serialLine, 'on'),
  ...['-serial', 'chardev:serial'],
]
