import { Command } from 'commander'

/** `vmhost keygen` */
export const createKeygenCommand = (): Command =>
  new Command('keygen')
    .argument('<file>', 'file to write; it must not exist')
    .option('--bits <number>', 'size of the key in bits', '3072')
    .action(async (file: string, { bits }: { bits: string }) =>
      (await import('../keygen.ts')).createKeyFile(file, bits),
    )
