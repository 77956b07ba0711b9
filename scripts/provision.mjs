// `npm run provision -- …`: makes a tenant with its provider and API key. DATABASE_URL, MASTER_KEY and API_KEY_PEPPER name
// the installation; without DATABASE_URL it is the one that `npm start` runs here.
import { runningInstallation } from "./services.mjs";

if (!process.env.DATABASE_URL && !process.env.DATABASE_URL_FILE) Object.assign(process.env, runningInstallation());
await import("../services/api/dist/provision.js");
