"""How answers and final states are judged, apart from any environment."""
