// Runs the built package: Node 20 does not run TypeScript.
import { launchServices } from "../../dist/embedded/launch.js";

const services = await launchServices(JSON.parse(process.argv[2]));
process.stdout.write(`${services.databaseUrl}\n`);
setInterval(() => undefined, 60_000);
