/** Path of the deployment info below the endpoint. The same as `paths.deploymentInfo()`. */
export const DEPLOYMENT_INFO_PATH = '/system/deploymentInfo'
