import { connect, createServer, type Socket } from "node:net";
import { freePort } from "../embedded/free-port.ts";

/** A way to a server that can be cut, as when the server restarts. */
export interface TcpProxy {
  /** The server's URL by way of this proxy. */
  readonly url: string;
  /** Lets connections through; resolves when it does. */
  open(): Promise<void>;
  /** Ends all connections and takes no new one. */
  cut(): Promise<void>;
  /** From here on nothing passes, as when the server's process is stopped: connections stay, new ones are taken. */
  freeze(): void;
}

/** A proxy in front of the server of `url`; closed at first. */
export async function tcpProxy(url: string): Promise<TcpProxy> {
  const target = new URL(url);
  const proxied = new URL(url);
  proxied.port = String(await freePort());
  const sockets = new Set<Socket>();
  let frozen = false;
  const server = createServer((client) => {
    if (frozen) {
      sockets.add(client.on("error", () => undefined));
      return;
    }
    const upstream = connect(Number(target.port), target.hostname);
    for (const [socket, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(socket);
      socket.pipe(other);
      socket.on("error", () => other.destroy()).on("close", () => sockets.delete(socket));
    }
  });
  return {
    url: proxied.href,
    open: () => {
      frozen = false;
      return new Promise((resolve) => server.listen(Number(proxied.port), "127.0.0.1", resolve));
    },
    freeze: () => {
      frozen = true;
      for (const socket of sockets) socket.unpipe().pause();
    },
    cut: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
}
