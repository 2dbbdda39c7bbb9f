// floor.mjs - how the program of floor.c is started.

const POOL = 12 * 1024 + 10240; // the default of limits.header, and POOL_EXTRA of gateway/listener/daemon.c

/** Its command line: on `port`, in front of that of the upstream; `log`: the file of its records, when it governs. */
export const floorCommand = (program, port, upstream, log) =>
  [program, String(port), String(upstream), `--pool=${POOL}`, ...(log ? [`--log=${log}`] : [])];
