"""`torch.hub`: nothing is downloaded."""

from minigrad.torch.answers import refusing

download_url_to_file = get_dir = load = load_state_dict_from_url = refusing(
    "hub", "nothing is downloaded: load files with torch.load"
)
