import { createServer, type AddressInfo, type Socket } from "node:net";

/** A TCP server that accepts connections and never says a word: no TLS, no HTTP. */
export interface SilentListener {
  readonly port: number;
  /** Resolves when the first client has connected. */
  readonly connected: Promise<void>;
  /** Resolves when the first client has closed its connection. */
  readonly clientClosed: Promise<void>;
  /** Safe twice. */
  close(): Promise<void>;
}

export async function startSilentListener(): Promise<SilentListener> {
  const sockets = new Set<Socket>();
  const server = createServer();
  const connected = new Promise<Socket>((resolve) => {
    server.once("connection", resolve);
  });
  server.on("connection", (socket) => {
    sockets.add(socket);
    socket.on("error", () => {});
    socket.resume();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    port: (server.address() as AddressInfo).port,
    connected: connected.then(() => undefined),
    clientClosed: connected.then((socket) => new Promise((resolve) => socket.once("close", () => resolve()))),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
}
